package telegramtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// params are the parameters of a call. What is no string in JSON is kept as JSON, as a form has it.
type params map[string]string

// readParams reads query, urlencoded, multipart and JSON parameters.
func readParams(r *http.Request) (params, error) {
	p := params{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var fields map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
			return nil, err
		}
		for name, raw := range fields {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			p[name] = text
		}
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil && err != http.ErrNotMultipart {
		// A bot that sends no parameters has an empty multipart body, without its closing boundary.
		if r.ContentLength > 0 {
			return nil, err
		}
	}
	// Only after the whole body does net/http look out for a client that goes.
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	for name, values := range r.Form {
		p[name] = values[0]
	}
	return p, nil
}

// number returns an integer parameter, 0 where it is absent or none.
func (p params) number(name string) int64 {
	n, err := strconv.ParseInt(p[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
