package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ollama/ollama/api"

	"pinch/agent/model"
)

// failure is what the server said instead of an answer. Status 0 or 200 is one in the middle of a stream.
type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return fmt.Sprintf("status %d: %s", f.status, f.text) }

func readFailure(resp *http.Response) failure {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var said struct {
		Error string `json:"error"`
	}
	f := failure{status: resp.StatusCode, text: string(body)}
	if json.Unmarshal(body, &said) == nil && said.Error != "" {
		f.text = said.Error
	}
	return f
}

// explain turns any failure into one of the model package's errors and says what can be done. A request that
// the caller ended gives the caller's reason alone.
func (c *Client) explain(call *call, err error) error {
	var f failure
	switch {
	case call.parent.Err() != nil:
		return fmt.Errorf("asking model %s: %w", c.cfg.Name, context.Cause(call.parent))
	case errors.Is(context.Cause(call.ctx), model.ErrStalled):
		return fmt.Errorf("asking model %s: %w: nothing came from %s for %v; try again, or raise stall in the config",
			c.cfg.Name, model.ErrStalled, c.base.Redacted(), call.stall)
	case errors.As(err, &f):
		return c.refusal(f)
	case errors.Is(err, errTooLong), errors.Is(err, errLooping):
		return fmt.Errorf("asking model %s: %w: %w", c.cfg.Name, model.ErrBadOutput, err)
	case errors.Is(err, errForeign):
		return fmt.Errorf("asking model %s: %w: %w: check the url %s in the config",
			c.cfg.Name, model.ErrUnavailable, err, c.base.Redacted())
	}
	return c.unreachable(err)
}

func (c *Client) unreachable(err error) error {
	return fmt.Errorf(`asking model %s: %w: start the server at %s ("ollama serve") or correct its url in the config: %w`,
		c.cfg.Name, model.ErrUnavailable, c.base.Redacted(), err)
}

// refusal explains what the server said.
func (c *Client) refusal(f failure) error {
	kind := classify(f)
	hint := "the server says: " + short(f.text)
	switch {
	case kind == model.ErrNotFound:
		hint = fmt.Sprintf(`run "ollama pull %s" on the machine of %s`, c.cfg.Model, c.base.Redacted())
	case kind == model.ErrNoTools:
		hint = fmt.Sprintf(`%s has no tools, choose a model that has, such as "qwen3:1.7b"`, c.cfg.Model)
	case kind == model.ErrBadOutput:
		hint = "the server could not read the model's tool call" // its text quotes the call
	case kind == model.ErrRefused && (f.status == http.StatusUnauthorized || f.status == http.StatusForbidden):
		hint = "check the key in the config; " + hint
	case f.status == http.StatusServiceUnavailable:
		hint = fmt.Sprintf("%s is busy, try again in a minute; %s", c.base.Redacted(), hint)
	case kind == model.ErrUnavailable:
		hint = fmt.Sprintf("look at the server at %s; %s", c.base.Redacted(), hint)
	case f.status >= 300 && f.status < 400:
		hint = fmt.Sprintf("%s points to another address, write that one into the config", c.base.Redacted())
	}
	return fmt.Errorf("asking model %s: %w: %s", c.cfg.Name, kind, hint)
}

var outputTexts = []string{
	"error parsing tool call", "failed to parse tool call", "unexpected end of json input", "parsing tool call",
}

// classify finds the error that a caller can act on, by the text first, since in a stream there is no status.
func classify(f failure) error {
	text := strings.ToLower(f.text)
	inStream := f.status == 0 || f.status == http.StatusOK
	_, overflow := model.Overflow(f.text)
	switch {
	case overflow && f.status != http.StatusTooManyRequests:
		return model.ErrOverflow
	case strings.Contains(text, "does not support tools"):
		return model.ErrNoTools
	case (f.status == http.StatusNotFound || inStream) && strings.Contains(text, "model") && strings.Contains(text, "not found"):
		return model.ErrNotFound
	case (f.status >= 500 || inStream) && contains(text, outputTexts):
		return model.ErrBadOutput
	case inStream, f.status >= 500, f.status == http.StatusNotFound, f.status == 499,
		f.status == http.StatusTooManyRequests, f.status == http.StatusRequestTimeout:
		return model.ErrUnavailable
	}
	return model.ErrRefused
}

func contains(text string, any []string) bool {
	for _, s := range any {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// fromLibrary explains an error of the library's client.
func (c *Client) fromLibrary(err error) error {
	var status api.StatusError
	var auth api.AuthorizationError
	switch {
	case errors.As(err, &status):
		return c.refusal(failure{status: status.StatusCode, text: status.ErrorMessage})
	case errors.As(err, &auth):
		return c.refusal(failure{status: auth.StatusCode, text: auth.Error()})
	}
	return c.unreachable(err)
}

// short keeps a server's text to one line of bounded length.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	if s == "" {
		return "nothing"
	}
	return s
}
