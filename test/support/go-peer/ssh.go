package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// serveSSH is a Git host: it lets in whoever has one key, and runs git-upload-pack in one folder. It prints its address and the
// key that it is known by, and ends with its standard input.
func serveSSH(address, folder, authorizedKey string) error {
	line, err := os.ReadFile(authorizedKey)
	if err != nil {
		return err
	}
	allowed, _, _, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		return err
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return err
	}
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if bytes.Equal(key.Marshal(), allowed.Marshal()) {
				return nil, nil
			}
			return nil, fmt.Errorf("unknown key")
		},
	}
	config.AddHostKey(signer)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	fmt.Print(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveConn(conn, config, folder)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func serveConn(conn net.Conn, config *ssh.ServerConfig, folder string) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for opening := range channels {
		if opening.ChannelType() != "session" {
			_ = opening.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		channel, asked, err := opening.Accept()
		if err != nil {
			return
		}
		go serveSession(channel, asked, folder)
	}
}

func serveSession(channel ssh.Channel, asked <-chan *ssh.Request, folder string) {
	defer channel.Close()
	env := os.Environ()
	for request := range asked {
		switch request.Type {
		case "env":
			var pair struct{ Name, Value string }
			if ssh.Unmarshal(request.Payload, &pair) == nil && pair.Name == "GIT_PROTOCOL" {
				env = append(env, "GIT_PROTOCOL="+pair.Value)
			}
			_ = request.Reply(true, nil)
		case "exec":
			var command struct{ Line string }
			_ = ssh.Unmarshal(request.Payload, &command)
			_ = request.Reply(true, nil)
			status := struct{ Code uint32 }{uploadPack(channel, command.Line, env, folder)}
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
			return
		default:
			_ = request.Reply(false, nil)
		}
	}
}

func uploadPack(channel ssh.Channel, line string, env []string, folder string) uint32 {
	path, isUploadPack := strings.CutPrefix(line, "git-upload-pack ")
	if !isUploadPack {
		fmt.Fprintln(channel.Stderr(), "only git-upload-pack is run here")
		return 128
	}
	git := exec.Command("git", "upload-pack", filepath.Join(folder, filepath.Clean("/"+strings.Trim(path, "'"))))
	git.Env, git.Stdout, git.Stderr = env, channel, channel.Stderr()
	// Not git.Stdin: Run would wait for a client that keeps its side open.
	stdin, err := git.StdinPipe()
	if err != nil {
		return 128
	}
	go func() {
		_, _ = io.Copy(stdin, channel)
		_ = stdin.Close()
	}()
	if err := git.Run(); err != nil {
		return 128
	}
	return 0
}
