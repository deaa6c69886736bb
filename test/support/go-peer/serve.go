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

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// notes is how the messages of one call came: compressed by what, and to how many bytes.
type notes struct {
	compression string
	lengths     []string
}

type notesKey struct{}

// noteTaker looks at each call as it is on the wire.
type noteTaker struct{}

func (noteTaker) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, notesKey{}, &notes{})
}

func (noteTaker) HandleRPC(ctx context.Context, event stats.RPCStats) {
	taken := ctx.Value(notesKey{}).(*notes)
	switch event := event.(type) {
	case *stats.InHeader:
		taken.compression = event.Compression
	case *stats.InPayload:
		taken.lengths = append(taken.lengths, fmt.Sprintf("%d/%d", event.CompressedLength, event.Length))
	}
}

func (noteTaker) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (noteTaker) HandleConn(context.Context, stats.ConnStats)                       {}

// serve is a server of gRPC for Go, as existing kas are: it answers in the encoding of the request. It prints its address, and
// ends when its input does.
func serve(address string) {
	listener, err := net.Listen("tcp", address)
	must(err)
	server := grpc.NewServer(
		grpc.ForceServerCodec(raw{}), grpc.StatsHandler(noteTaker{}), grpc.UnknownServiceHandler(answer))
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	must(server.Serve(listener))
}

// answer sends each message back: /x.Echo/Echo as the client asked, /x.Gzip/Echo compressed whatever it asked. /x.Notes/Take
// tells at the end how they came, and /x.Bomb/Burst sends what is small only as long as it is compressed.
func answer(_ any, call grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(call)
	taken := call.Context().Value(notesKey{}).(*notes)
	if strings.HasPrefix(path, "/x.Gzip/") || strings.HasPrefix(path, "/x.Bomb/") {
		if err := grpc.SetSendCompressor(call.Context(), gzip.Name); err != nil {
			return err
		}
	}
	for {
		var data []byte
		err := call.RecvMsg(&data)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(path, "/Burst"):
			data = bytes.Repeat([]byte("0"), 64<<20)
			fallthrough
		case strings.HasSuffix(path, "/Echo"):
			if err := call.SendMsg(&data); err != nil {
				return err
			}
		case path != "/x.Notes/Take":
			return status.Error(codes.Unimplemented, path)
		}
	}
	if path == "/x.Notes/Take" {
		told := []byte(taken.compression + " " + strings.Join(taken.lengths, " "))
		return call.SendMsg(&told)
	}
	return nil
}
