package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pinch/agent/config"
)

// general stands for [agent], with a value of each kind.
type general struct {
	Name    string          `toml:"name" doc:"what people call it"`
	Reflex  string          `toml:"reflex" doc:"first, fallback or off"`
	Rounds  int             `toml:"rounds" doc:"model calls a turn"`
	Port    uint16          `toml:"port" doc:"of the panel"`
	Share   float64         `toml:"share" doc:"of the window, 0 to 1"`
	Quiet   bool            `toml:"quiet" doc:"no greeting"`
	Budget  config.Size     `toml:"budget" doc:"bytes on disk"`
	Wait    config.Duration `toml:"wait" doc:"longest silence"`
	Allow   []int64         `toml:"allow" doc:"numeric ids"`
	Words   []string        `toml:"words" doc:"names it hears"`
	Local   *bool           `toml:"local" doc:"stays in the house"`
	Prices  price           `toml:"price" doc:"money"`
	Runtime string
}

type price struct {
	Input  float64 `toml:"input" doc:"per million tokens"`
	Output float64 `toml:"output" doc:"per million tokens"`
}

func (g general) Validate() error {
	if g.Reflex != "first" && g.Reflex != "off" {
		return errors.New(`reflex must be "first" or "off"`)
	}
	if g.Prices.Input < 0 {
		return errors.New("price.input cannot be negative")
	}
	return nil
}

type account struct {
	Token config.Secret `toml:"token" doc:"credential"`
	URL   string        `toml:"url" doc:"server"`
}

func (a *account) Default() { a.URL = "https://api.telegram.org" }

func (a account) Validate() error {
	if a.URL == "" {
		return errors.New("url is empty: write the server's address")
	}
	return nil
}

type telegram struct {
	account
	Accounts map[string]account `toml:"accounts" doc:"more bots"`
}

type file struct {
	agent  general
	models []account
	tg     telegram
	agents map[string]general
}

func defaults() *file {
	f := &file{
		agent: general{
			Name: "Pi \"n\" ch\\", Reflex: "first", Rounds: 8, Share: 0.25, Budget: 100e6,
			Wait: config.Duration(10 * time.Minute), Words: []string{"a", "b"},
		},
		models: []account{{URL: "http://one"}, {URL: "http://two"}},
	}
	f.tg.Default()
	return f
}

func (f *file) sections() []config.Section {
	return []config.Section{
		{Name: "agent", Doc: "The assistant.", Into: &f.agent},
		{Name: "agents", Doc: "More assistants.", Into: &f.agents},
		{Name: "model", Doc: "In order of preference.", Into: &f.models},
		{Name: "channels.telegram", Doc: "Account default.", Into: &f.tg},
	}
}

// load reads the text and gives the error without the path of the temporary directory.
func (f *file) load(t testing.TB, text string) string {
	t.Helper()
	return f.loadIn(t, t.TempDir(), text)
}

func (f *file) loadIn(t testing.TB, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "pinch.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := config.Load(path, f.sections()...); err != nil {
		return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	}
	return ""
}

func TestMissingFileIsTheDefaults(t *testing.T) {
	f := defaults()
	if err := config.Load(filepath.Join(t.TempDir(), "none.toml"), f.sections()...); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f, defaults()) {
		t.Fatalf("changed: %+v", f)
	}
	if err := config.Load(t.TempDir(), f.sections()...); err == nil {
		t.Fatal("a directory was read")
	}
}

func TestLoad(t *testing.T) {
	f := defaults()
	if err := f.load(t, `
agent.name = "Crab"
[[model]]
token = "open"
[channels.telegram]
url = "http://x"
[channels.telegram.accounts.shop]
token = "other"
[agents.kid]
reflex = "off"
local = false
port = 65535
share = 1
budget = 4096
allow = []
price = { output = 2.5 }
`); err != "" {
		t.Fatal(err)
	}
	want := defaults()
	want.agent.Name = "Crab"
	want.models = []account{{config.NewSecret("open"), "https://api.telegram.org"}}
	want.tg.URL = "http://x"
	want.tg.Accounts = map[string]account{"shop": {config.NewSecret("other"), "https://api.telegram.org"}}
	want.agents = map[string]general{"kid": {
		Reflex: "off", Local: new(bool), Port: 65535, Share: 1, Budget: 4096, Prices: price{Output: 2.5},
	}}
	if !reflect.DeepEqual(f, want) {
		t.Fatalf("got  %+v\nwant %+v", f, want)
	}
}

func TestStrict(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# one\n[agent]\nnmae = 1", "pinch.toml:3: agent.nmae is not a key; did you mean agent.name?"},
		{"[agent]\nName = 'x'", "pinch.toml:2: agent.Name is not a key; did you mean agent.name?"},
		{"[agent]\ncolour = 1", "pinch.toml:2: agent.colour is not a key; known here: agent.allow, agent.budget, agent.local, agent.name, agent.port, agent.price, agent.quiet, agent.reflex, agent.rounds, agent.share, agent.wait, agent.words"},
		{"[agent]\nRuntime = 'x'", "pinch.toml:2: agent.Runtime is not a key; known here: agent.allow, agent.budget, agent.local, agent.name, agent.port, agent.price, agent.quiet, agent.reflex, agent.rounds, agent.share, agent.wait, agent.words"},
		{"\ntoken = 'x'", "pinch.toml:2: token is not a key; did you mean model.token?"},
		{"[telegram]\ntoken = 'x'", "pinch.toml:1: telegram is not a key; did you mean channels.telegram?"},
		{"[chanels.telegram]", "pinch.toml:1: chanels is not a key; known here: agent, agents, channels.telegram, model"},
		{"[channels.telegramm]", "pinch.toml:1: channels.telegramm is not a key; did you mean channels.telegram?"},
		{"[[model]]\n[[model]]\n\nurll = 'x'", "pinch.toml:4: model.urll is not a key; did you mean model.url?"},
		{"[channels.telegram.accounts.a]\n[channels.telegram.accounts.'b c']\nurk='x'", "pinch.toml:3: channels.telegram.accounts.b c.urk is not a key; did you mean channels.telegram.accounts.b c.url?"},
		{"[agent]\nwords = [\n'[x]', # ]\n\"\"\"\n\"\"\"]\nrouns = 1", "pinch.toml:6: agent.rouns is not a key; did you mean agent.rounds?"},
		{"[agent]\nprice = {inptu = 1}", "pinch.toml:2: agent.price.inptu is not a key; did you mean agent.price.input?"},
		{"[agent]\nname = 5", "pinch.toml:2: agent.name must be text in quotes, not a whole number"},
		{"[agent]\nrounds = '5'", "pinch.toml:2: agent.rounds must be a whole number, not text"},
		{"[agent]\nrounds = 0.5", "pinch.toml:2: agent.rounds must be a whole number, not a number with a fraction"},
		{"[agent]\nport = 65536", "pinch.toml:2: agent.port is out of range"},
		{"[agent]\nport = -1", "pinch.toml:2: agent.port is out of range"},
		{"[agent]\nshare = nan", "pinch.toml:2: agent.share must be a number, not a number with a fraction"},
		{"[agent]\nshare = true", "pinch.toml:2: agent.share must be a number, not true or false"},
		{"[agent]\nquiet = 1979-05-27", "pinch.toml:2: agent.quiet must be true or false, not a date or time"},
		{"[agent]\nlocal = {}", "pinch.toml:2: agent.local must be true or false, not a table"},
		{"[agent]\nbudget = 1.5", `pinch.toml:2: agent.budget must be a size in quotes, such as "100MB", not a number with a fraction`},
		{"[agent]\nbudget = '1 TB'", `pinch.toml:2: agent.budget is wrong: "1 TB" is not a size: write "100MB", "512KB" or a number of bytes`},
		{"[agent]\nwait = 5", `pinch.toml:2: agent.wait must be a duration in quotes, such as "10m", not a whole number`},
		{"[agent]\nwait = '-5m'", "pinch.toml:2: agent.wait is wrong: a duration cannot be negative"},
		{"[agent]\nallow = 5", "pinch.toml:2: agent.allow must be a list such as [1, 2], not a whole number"},
		{"[agent]\nallow = [\n1,\n'x']", "pinch.toml:2: agent.allow must be a whole number, not text"},
		{"[agent]\nwords = 'x'", `pinch.toml:2: agent.words must be a list such as ["one", "two"], not text`},
		{"agent = 1", "pinch.toml:1: agent must be a table, not a whole number"},
		{"agents = 1", "pinch.toml:1: agents must be a table, not a whole number"},
		{"channels = []", "pinch.toml:1: channels must be a table such as [channels], not a list"},
		{"[model]", "pinch.toml:1: model must be a list of tables, each under its own [[name]], not a table"},
		{"[agent]\nreflex = 'on'", `pinch.toml:2: agent.reflex must be "first" or "off"`},
		{"[agent]\nname='x'\nprice.input = -1", "pinch.toml:3: agent.price.input cannot be negative"},
		{"[[model]]\n[[model]]\nurl = ''", "pinch.toml:3: model.url is empty: write the server's address"},
		{"[agents.kid]", `pinch.toml:1: agents.kid.reflex must be "first" or "off"`},
		{"[agent]\nname = 1\n[x]\n[agent.price]\ninput = 'a'", "pinch.toml:2: agent.name must be text in quotes, not a whole number\npinch.toml:3: x is not a key; known here: agent, agents, channels.telegram, model\npinch.toml:5: agent.price.input must be a number, not text"},
		{"[agent]\n\nname = 1\nname = 2", "pinch.toml:4: this key or table stands here a second time: keep one"},
		{"[agent]\nname = Pinch", `pinch.toml:2: this is not TOML: write key = value, text in "quotes", the names of tables in [brackets]`},
	} {
		if got := defaults().load(t, c.text); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestErrorsKeepSecrets writes a secret in every wrong way that people try.
func TestErrorsKeepSecrets(t *testing.T) {
	const secret = "31337SESAME"
	for _, text := range []string{
		"[channels.telegram]\ntoken = 31337SESAME", "[channels.telegram]\ntoken = '31337SESAME", "[channels.telegram]\ntoken = \"31337SESAME\n",
		"[channels.telegram]\ntoken = '31337SESAME' x", "[channels.telegram]\ntoken '31337SESAME'", "[channels.telegram]\n31337SESAME",
		"[channels.telegram]\ntoken = ['31337SESAME']", "[channels.telegram]\ntoken = {a = '31337SESAME'}", "[channels.telegram]\ntokn = '31337SESAME'",
		"[channels.telegram]\ntoken = \"\\q31337SESAME\"", "[agent]\nrounds = '31337SESAME'", "agent = '31337SESAME'",
	} {
		if got := defaults().load(t, text); got == "" || strings.Contains(got, secret) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(config.Example(defaults().sections()...))
	f.Add("[[model]]\nurl = \"\"\"\nx\"\"\"\n[[model]]\n'token' = 'a'\n[channels.telegram.accounts.\"a.b\"]\n")
	f.Add("agent = {name = 'a', price = {input = 1}}\nmodel = [{}, {url = ''}]")
	f.Add("\ufeffagent.\"n\\u0061me\" = 1\r\n[ agent . price ] # x\r\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		got := defaults().loadIn(t, dir, text)
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "pinch.toml: ") && !strings.Contains(line, "TOML") {
				t.Errorf("%q: no line for %q", text, line)
			}
		}
	})
}
