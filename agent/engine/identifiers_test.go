package engine_test

import (
	"slices"
	"strings"
	"testing"

	"pinch/agent/engine"
)

func TestIdentifiersOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"The device is 550e8400-e29b-41d4-a716-446655440000, ok?", []string{"550e8400-e29b-41d4-a716-446655440000"}},
		{"Fixed in 3f9a1c7be, see https://git.example.org/p/commit/3f9a1c7be.", []string{"3f9a1c7be", "https://git.example.org/p/commit/3f9a1c7be"}},
		{"服务器在 https://ha.example.org/lovelace，密码不变", []string{"https://ha.example.org/lovelace"}},
		{"Write to ana.lopez+home@example.org or call +49 170 1234567.", []string{"ana.lopez+home@example.org", "+49 170 1234567"}},
		{"The broker is mqtt://192.168.1.20:1883 and the NAS 10.0.0.5", []string{"mqtt://192.168.1.20:1883", "10.0.0.5"}},
		{"Edit /etc/pinch/pinch.toml and ~/notes/todo.md, then backup.sh", []string{"/etc/pinch/pinch.toml", "~/notes/todo.md", "backup.sh"}},
		{"look in src/main/app.go", []string{"src/main/app.go"}},
		{"Relay on GPIO17, sensor at 0x76 on bus 1, button pin 22", []string{"GPIO17", "0x76", "bus 1", "pin 22"}},
		{"Ticket ABC-1234 and issue #42", []string{"ABC-1234", "#42"}},
		{"It was 21.5°C at 14:05 on 2026-03-02, humidity 48%", []string{"21.5°C", "14:05", "2026-03-02", "48%"}},
		{"The pump draws 2.5 A, takes 30 minutes, and costs €49 or $1,200.50", []string{"2.5 A", "30 minutes", "€49", "$1,200.50"}},
		{"水箱有120升，3月5日下午换，温度22度，一共350元", []string{"120升", "3月5日", "22度", "350元"}},
		{"电话是138-1234-5678，房间302室", []string{"138-1234-5678", "302室"}},
		{"MAC b8:27:eb:12:34:56, firmware v1.12.3", []string{"b8:27:eb:12:34:56", "v1.12.3"}},
		{"The PIN is 4711.", []string{"4711"}},
		{"I have two cats and 3 dogs, and that is that.", nil},
		{"谢谢，没问题。", nil},
	} {
		if got := engine.Identifiers(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestScrub(t *testing.T) {
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnop1234", "ghp_abcdefghijklmnopqrstuvwx0123", "123456789:AAabcdefghijklmnopqrstuvwxyz0123456",
		"AKIAABCDEFGHIJKLMNOP", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "api_key = 'hunter2hunter2'", "password: correct-horse",
		"Bearer abcdefghijklmnop1234", "https://ana:hunter22@example.org/",
	} {
		got := engine.Scrub("use " + secret + " for it")
		if !strings.Contains(got, "[secret]") || strings.Contains(got, secret) || !strings.HasPrefix(got, "use ") || !strings.HasSuffix(got, " for it") {
			t.Errorf("%q: %q", secret, got)
		}
	}
	for _, plain := range []string{"The Wi-Fi password is on the fridge.", "tokens: 4096", "GPIO17 at 0x76, 12345678", "the secret garden: a book"} {
		if got := engine.Scrub(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}
