package ollama_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"pinch/agent/config"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/agent/model/ollama"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t testing.TB, change func(*model.Config)) *ollama.Client {
	t.Helper()
	cfg := model.Config{}
	cfg.Default()
	cfg.Window = 4096
	change(&cfg)
	hc, closeIdle := ownConnections()
	t.Cleanup(closeIdle)
	c, err := ollama.New(cfg, hc, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSuite(t *testing.T) {
	for name, window := range map[string]int{"with a window": 4096, "with the server's window": 0} {
		t.Run(name, func(t *testing.T) {
			modeltest.Suite(t, func(t testing.TB, url string, stall time.Duration) model.Client {
				return newClient(t, func(c *model.Config) {
					c.URL, c.Stall, c.Window = url, config.Duration(stall), window
				})
			}, modeltest.NewOllama(t))
		})
	}
}
