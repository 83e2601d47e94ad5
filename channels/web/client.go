package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"pinch/agent/command"
	"pinch/channels"
)

// ErrNotRunning means that nothing listens on the socket.
var ErrNotRunning = errors.New("pinch is not running here")

// Client is the other end of Serve. It keeps no connection between calls.
type Client struct {
	http *http.Client
}

// Dial returns a client for the socket at path, or ErrNotRunning where nothing listens.
func Dial(path string) (*Client, error) {
	conn, err := net.DialTimeout("unix", path, 2*time.Second)
	if err != nil {
		return nil, fmt.Errorf("calling the running pinch: %w", dialError(err))
	}
	conn.Close()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, dialError(err)
		}
		return conn, nil
	}
	return &Client{&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

// dialError is ErrNotRunning where the socket is missing, cannot be there or has nobody behind it.
func dialError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ECONNREFUSED) {
		return ErrNotRunning
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("it belongs to another user: become that user, for instance with sudo: %w", err)
	}
	return err
}

// Call runs an operation in the running pinch, as the owner. The Data of its result is a json.RawMessage.
func (c *Client) Call(ctx context.Context, call command.Call) (command.Result, error) {
	body, err := c.post(ctx, "/v1/call", call)
	if err != nil {
		return command.Result{}, err
	}
	defer body.Close()
	var result struct {
		command.Result
		Data json.RawMessage `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxReply)).Decode(&result); err != nil {
		return command.Result{}, fmt.Errorf("reading the answer of the running pinch: %w", err)
	}
	if result.Data != nil {
		result.Result.Data = result.Data
	}
	return result.Result, nil
}

// Say is Channel.Say in the running pinch.
func (c *Client) Say(ctx context.Context, m channels.Message, show func(channels.Event)) error {
	if m.ID == "" {
		m.ID = rand.Text()
	}
	body, err := c.post(ctx, "/v1/chat", m)
	if err != nil {
		return err
	}
	defer body.Close()
	over := false
	err = readEvents(body, func(name string, data []byte) error {
		var e channels.Event
		switch name {
		case "done":
			over = true
			return io.EOF
		case "error":
			over = true
			return errors.New(failureIn(data))
		case "progress":
			e.Progress = &channels.Progress{}
			if err := json.Unmarshal(data, e.Progress); err != nil {
				return fmt.Errorf("reading a progress: %w", err)
			}
		case "part":
			e.Part = &channels.Part{}
			if err := json.Unmarshal(data, e.Part); err != nil {
				return fmt.Errorf("reading a reply: %w", err)
			}
		default: // of a newer pinch
			return nil
		}
		show(e)
		return ctx.Err()
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case over && err == io.EOF:
		return nil
	case over:
		return err
	}
	return fmt.Errorf("the connection to the running pinch was lost, the reply comes with the next message: %w", err)
}

// post sends a request and returns the body of its answer.
func (c *Client) post(ctx context.Context, path string, value any) (io.ReadCloser, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://pinch"+path, bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("writing a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("calling the running pinch: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return nil, kindOf(resp.StatusCode, failureIn(text))
}

// refusal is an error of the running pinch that a caller may tell apart.
type refusal struct {
	text string
	kind error
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.kind }

// kindOf gives an error from the other side its kind back.
func kindOf(status int, text string) error {
	switch status {
	case http.StatusUnprocessableEntity:
		return command.UsageError{Text: text}
	case http.StatusNotFound:
		return refusal{text, command.ErrUnknown}
	case http.StatusForbidden:
		return refusal{text, command.ErrForbidden}
	}
	return errors.New(text)
}

// failureIn reads the sentence of a failed request.
func failureIn(data []byte) string {
	var f failure
	if json.Unmarshal(data, &f) != nil || f.Error == "" {
		return "the running pinch gave an answer that cannot be read: stop it and start this version"
	}
	return f.Error
}
