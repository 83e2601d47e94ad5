package ollama

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"pinch/agent/model"
)

const (
	probeTime    = 5 * time.Second
	usualContext = 4096 // what a server on a small machine gives by itself
)

// Probe asks the server about the model without running it, for at most five seconds. Window is what the
// config says, else the Modelfile's num_ctx, else what is allocated for the loaded model, else 4,096: never
// what the model was trained for, which no board can hold, but also never more. A server that does not tell
// what the model can do is believed to have tools.
func (c *Client) Probe(ctx context.Context) (model.Info, error) {
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	show, err := c.api.Show(limited, &api.ShowRequest{Model: c.cfg.Model})
	if err != nil {
		if ctx.Err() != nil {
			return model.Info{}, fmt.Errorf("asking model %s: %w", c.cfg.Name, context.Cause(ctx))
		}
		return model.Info{}, c.fromLibrary(err)
	}
	info := model.Info{Name: c.cfg.Name, Model: c.cfg.Model, Tools: len(show.Capabilities) == 0}
	for _, power := range show.Capabilities {
		info.Tools = info.Tools || power == "tools"
		info.Vision = info.Vision || power == "vision"
		info.Thinking = info.Thinking || power == "thinking"
	}
	// Servers that only look like Ollama may lack the next two, so their failures are no errors.
	allocated := 0
	if running, err := c.api.ListRunning(limited); err == nil {
		for _, m := range running.Models {
			if c.same(m.Name) || c.same(m.Model) {
				allocated, info.Digest = m.ContextLength, m.Digest
			}
		}
	}
	if info.Digest == "" {
		if tags, err := c.api.List(limited); err == nil {
			for _, m := range tags.Models {
				if c.same(m.Name) || c.same(m.Model) {
					info.Digest = m.Digest
				}
			}
		}
	}
	info.Window = c.window(modelfileContext(show.Parameters), allocated, trainedContext(show))
	return info, nil
}

// window decides on the window once, and says how much of it the server really gives.
func (c *Client) window(modelfile, allocated, trained int) int {
	w := usualContext
	if allocated > 0 {
		w = allocated
	}
	if modelfile > 0 {
		w = modelfile
	}
	if trained > 0 {
		w = min(w, trained)
	}
	c.numCtx.CompareAndSwap(0, int64(w))
	w = int(c.numCtx.Load())
	if trained > 0 {
		w = min(w, trained)
	}
	if allocated > 0 && c.answered.Load() {
		w = min(w, allocated)
	}
	return w
}

// same compares with the server's name, which always has a tag.
func (c *Client) same(name string) bool {
	return name != "" && (name == c.cfg.Model || name == c.cfg.Model+":latest")
}

func modelfileContext(parameters string) int {
	for line := range strings.Lines(parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, _ := strconv.Atoi(f[1])
			return max(n, 0)
		}
	}
	return 0
}

func trainedContext(show *api.ShowResponse) int {
	family, _ := show.ModelInfo["general.architecture"].(string)
	n, _ := show.ModelInfo[family+".context_length"].(float64)
	if n < 1 || n > 1<<30 {
		return 0
	}
	return int(n)
}
