package telegramtest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// pipe is a listener whose connections are net.Pipes.
type pipe struct {
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	server *http.Server
	served chan struct{}
}

func newPipe(h http.Handler) *pipe {
	p := &pipe{conns: make(chan net.Conn), done: make(chan struct{}), served: make(chan struct{}), server: &http.Server{Handler: h}}
	go func() {
		defer close(p.served)
		p.server.Serve(p) // ends with close
	}()
	return p
}

func (p *pipe) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipe) close() {
	p.server.Close()
	<-p.served
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipe) Addr() net.Addr { return &net.UnixAddr{Name: "telegram.test", Net: "pipe"} }
