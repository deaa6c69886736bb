// Passes connections to ports of the machine's loopback on to the same ports in the network of a node. It is started in the node's
// network, and listens in the machine's, which its first parameter names: forward /proc/PID/ns/net PORT...
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: forward NETWORK PORT..."))
	}
	listeners := make(chan net.Listener)
	for _, port := range os.Args[2:] {
		address := net.JoinHostPort("127.0.0.1", port)
		go func() {
			// A thread has a network. This one is in the wrong one from here on, and ends with the goroutine that keeps it.
			runtime.LockOSThread()
			listener, err := listenIn(os.Args[1], address)
			if err != nil {
				fail(err)
			}
			listeners <- listener
		}()
		go serve(<-listeners, address)
	}
	select {}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "forward:", err)
	os.Exit(1)
}

func listenIn(network, address string) (net.Listener, error) {
	file, err := os.Open(network)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	return net.Listen("tcp4", address)
}

func serve(listener net.Listener, address string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			fail(err)
		}
		go pass(client.(*net.TCPConn), address)
	}
}

func pass(client *net.TCPConn, address string) {
	defer client.Close()
	connection, err := net.Dial("tcp4", address)
	if err != nil {
		return
	}
	server := connection.(*net.TCPConn)
	defer server.Close()
	done := make(chan struct{}, 2)
	for _, ends := range [][2]*net.TCPConn{{client, server}, {server, client}} {
		go func() {
			io.Copy(ends[1], ends[0])
			// The other direction may go on: a request can be over before its answer.
			ends[1].CloseWrite()
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}
