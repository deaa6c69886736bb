// A client of gRPC for Go that behaves as an existing agent does: everything compressed with gzip, a ping every 55 s, a bearer
// token with each call, and a WebSocket as a net.Conn. Messages are bytes, so it needs no descriptors.
//
// It is called with an address and what to do, prints one line for each thing that was as it should be, and ends with 1 at the
// first that was not. Called with `serve` and an address, it is a server instead (serve.go); with
// `ssh`, an address, a folder and a file with a public key it is a Git host over SSH (ssh.go).
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type raw struct{}

func (raw) Name() string                       { return "proto" }
func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }

// stream is the bytes in the binary messages of a WebSocket.
type stream struct {
	*websocket.Conn
	rest io.Reader
}

func (s *stream) Read(into []byte) (int, error) {
	for {
		if s.rest == nil {
			_, reader, err := s.NextReader()
			if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
				return 0, io.EOF
			}
			if err != nil {
				return 0, err
			}
			s.rest = reader
		}
		n, err := s.rest.Read(into)
		if errors.Is(err, io.EOF) {
			s.rest, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (s *stream) Write(data []byte) (int, error) {
	if err := s.WriteMessage(websocket.BinaryMessage, data); err != nil {
		return 0, err
	}
	return len(data), nil
}

func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

func dial(address string) *grpc.ClientConn {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 55 * time.Second, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.UseCompressor(gzip.Name)),
	}
	target := "dns:" + strings.TrimPrefix(address, "grpc://")
	if strings.HasPrefix(address, "ws://") {
		target = "passthrough:kas"
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			dialer := websocket.Dialer{Subprotocols: []string{"ws-tunnel"}}
			conn, _, err := dialer.DialContext(ctx, address, nil)
			if err != nil {
				return nil, err
			}
			conn.SetReadLimit(10 << 20)
			return &stream{Conn: conn}, nil
		}))
	}
	connection, err := grpc.NewClient(target, options...)
	must(err)
	return connection
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, what ...any) {
	fmt.Printf(format+"\n", what...)
	os.Exit(1)
}

func open(ctx context.Context, connection *grpc.ClientConn, path string) grpc.ClientStream {
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	call, err := connection.NewStream(ctx, desc, path)
	must(err)
	return call
}

func send(call grpc.ClientStream, data []byte) { must(call.SendMsg(&data)) }

func receive(call grpc.ClientStream) []byte {
	var got []byte
	must(call.RecvMsg(&got))
	return got
}

func main() {
	if os.Args[1] == "ssh" {
		must(serveSSH(os.Args[2], os.Args[3], os.Args[4]))
		return
	}
	if os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer agent-token")
	connection := dial(os.Args[1])
	scenarios := map[string]func(context.Context, *grpc.ClientConn){
		"unary": unary, "echo": echo, "pull": pull, "large": large, "cancel": giveUp, "goaway": goaway,
	}
	for _, name := range os.Args[2:] {
		scenarios[name](ctx, connection)
		fmt.Println(name)
	}
	must(connection.Close())
}

func unary(ctx context.Context, connection *grpc.ClientConn) {
	var request, response []byte
	must(connection.Invoke(ctx, "/gitlab.agent.agent_registrar.rpc.AgentRegistrar/Register", &request, &response))
}

// echo sends messages of many sizes and reads them in the same order.
func echo(ctx context.Context, connection *grpc.ClientConn) {
	call := open(ctx, connection, "/x.Echo/Echo")
	for at, size := range []int{0, 1, 16 << 10, 65535, 65536, 1 << 20, 4 << 20} {
		sent := bytes.Repeat([]byte{byte(at)}, size)
		send(call, sent)
		if got := receive(call); !bytes.Equal(got, sent) {
			fail("of %d bytes came %d", size, len(got))
		}
	}
	must(call.CloseSend())
	var end []byte
	if err := call.RecvMsg(&end); !errors.Is(err, io.EOF) {
		fail("the call ended with %v", err)
	}
}

// pull reads as fast as it can: the client measures the line with pings all the time.
func pull(ctx context.Context, connection *grpc.ClientConn) {
	call := open(ctx, connection, "/x.Pull/Pull")
	must(call.CloseSend())
	total := 0
	for {
		var got []byte
		err := call.RecvMsg(&got)
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		total += len(got)
	}
	if total != 64<<20 {
		fail("of 64 MiB came %d bytes", total)
	}
}

// large sends a message that is larger than what is taken, once it is decompressed.
func large(ctx context.Context, connection *grpc.ClientConn) {
	call := open(ctx, connection, "/x.Echo/Echo")
	send(call, make([]byte, 64<<20))
	var got []byte
	if err := call.RecvMsg(&got); status.Code(err) != codes.ResourceExhausted {
		fail("a message of 64 MiB ended with %v", err)
	}
}

func giveUp(ctx context.Context, connection *grpc.ClientConn) {
	ctx, cancel := context.WithCancel(ctx)
	call := open(ctx, connection, "/x.Echo/Echo")
	send(call, []byte("x"))
	receive(call)
	cancel()
	var got []byte
	if err := call.RecvMsg(&got); status.Code(err) != codes.Canceled {
		fail("the call that was given up ended with %v", err)
	}
}

// goaway keeps a call open while its connection is told to go: the call goes on, new ones go elsewhere.
func goaway(ctx context.Context, connection *grpc.ClientConn) {
	call := open(ctx, connection, "/x.Echo/Echo")
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		send(call, []byte("x"))
		receive(call)
		unary(ctx, connection)
		time.Sleep(20 * time.Millisecond)
	}
	must(call.CloseSend())
}
