package model

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pinch/agent/config"
)

// Config is one [[model]] of the file, in order of preference.
type Config struct {
	Name      string          `toml:"name" doc:"what people call it"`
	Provider  string          `toml:"provider" doc:"ollama (openai and anthropic come later)"`
	URL       string          `toml:"url" doc:"the server's address"`
	Model     string          `toml:"model" doc:"the server's name of the model"`
	Window    int             `toml:"window" doc:"tokens; 0 = ask the server"`
	Key       config.Secret   `toml:"key" doc:"credential, as env:NAME, file:PATH or credential:NAME"`
	Local     *bool           `toml:"local" doc:"stays in the house; default: decided by the address"`
	Price     Price           `toml:"price" doc:"money per million tokens"`
	KeepAlive config.Duration `toml:"keep_alive" doc:"how long the server keeps it loaded after a request"`
	Stall     config.Duration `toml:"stall" doc:"give up after this long without a token or progress"`
}

// Price is money per million tokens.
type Price struct {
	Input      float64 `toml:"input" doc:"prompt"`
	Output     float64 `toml:"output" doc:"reply"`
	CacheRead  float64 `toml:"cache_read" doc:"prompt read from a cache"`
	CacheWrite float64 `toml:"cache_write" doc:"prompt written to a cache"`
}

// Validate checks one model.
func (c Config) Validate() error {
	u, err := url.Parse(c.URL)
	switch {
	case c.Name == "":
		return fmt.Errorf(`name is empty: write a short name, such as "local"`)
	case c.Provider != "ollama":
		return fmt.Errorf(`provider %q is not known: this version has "ollama"`, c.Provider)
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return fmt.Errorf(`url %q is no address: write one like "http://127.0.0.1:11434"`, c.URL)
	case c.Model == "":
		return fmt.Errorf(`model is empty: write the server's name of it, such as "qwen3:1.7b"`)
	case c.Window != 0 && c.Window < 2048:
		return fmt.Errorf("window %d is too small: 2048 is the least that works, 4096 is usual", c.Window)
	case c.Price != (Price{}) && (c.Price.Input < 0 || c.Price.Output < 0 || c.Price.CacheRead < 0 || c.Price.CacheWrite < 0):
		return fmt.Errorf("price cannot be negative")
	}
	return nil
}

// Default fills in what an entry of the file may leave out; as a whole it is the model of an absent file.
func (c *Config) Default() {
	*c = Config{
		Name: "local", Provider: "ollama", URL: "http://127.0.0.1:11434", Model: "qwen3:1.7b",
		KeepAlive: config.Duration(24 * time.Hour), Stall: config.Duration(20 * time.Minute),
	}
}

// Stays tells whether what is asked of the model stays in the house: as the config says, else by the address. A model
// that Ollama serves from its cloud leaves it wherever it is asked.
func (c Config) Stays() bool {
	if strings.HasSuffix(c.Model, ":cloud") || strings.HasSuffix(c.Model, "-cloud") {
		return false
	}
	if c.Local != nil {
		return *c.Local
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return false
	}
	name := u.Hostname()
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return name == "localhost" || strings.HasSuffix(name, ".local") || !strings.Contains(name, ".")
}
