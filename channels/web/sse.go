package web

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLong is a stream that does not keep to the bounds.
var errLong = errors.New("an event is too long")

// readEvents reads server-sent events until the stream ends or on returns an error, which it returns; the end of the
// stream is io.ErrUnexpectedEOF, since on is told when to stop. The data is valid only during the call.
func readEvents(r io.Reader, on func(name string, data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 4096), maxReply)
	var name string
	var data []byte
	some := false
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if some {
				if err := on(name, data); err != nil {
					return err
				}
			}
			name, data, some = "", data[:0], false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) { // "" is a comment
		case "event":
			name = string(value)
		case "data":
			if len(data)+len(value) >= maxReply {
				return errLong
			}
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return errLong
	case err != nil:
		return err
	}
	return io.ErrUnexpectedEOF
}
