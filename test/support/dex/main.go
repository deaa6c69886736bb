// Dex, as an organisation runs it: its server with passwords of its own and, beside them, the connector of its own tests, which has a
// group. What needs another server is left out. It ends when its standard input does.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"
)

const password = "any"

// Its own pages are in none of its packages. These have what people need of them.
var pages = map[string]string{
	"login.html":    `{{ range .Connectors }}<a href="{{ .URL }}">{{ .Name }}</a> {{ end }}`,
	"password.html": `<form method="post" action="{{ .PostURL }}"><input name="login"><input name="password" type="password"><button type="submit">Sign in</button></form>`,
	"approval.html": "",
	"oob.html":      "",
	"error.html":    `{{ .ErrType }}: {{ .ErrMsg }}`,
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(clientID, clientSecret, redirectURI string, emails []string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web, err := writePages()
	if err != nil {
		return err
	}
	defer os.RemoveAll(web)
	logger := logrus.New()
	logger.Out = io.Discard
	known, err := fill(memory.New(logger), storage.Client{
		ID: clientID, Secret: clientSecret, Name: "Berth", RedirectURIs: []string{redirectURI},
	}, emails)
	if err != nil {
		return err
	}
	issuer := fmt.Sprintf("http://%s/dex", listener.Addr())
	dex, err := server.NewServer(ctx, server.Config{
		Issuer:             issuer,
		Storage:            known,
		SkipApprovalScreen: true,
		Web:                server.WebConfig{Dir: web},
		Logger:             logger,
		PrometheusRegistry: prometheus.NewRegistry(),
	})
	if err != nil {
		return err
	}
	go http.Serve(listener, dex)
	fmt.Println(issuer)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func writePages() (string, error) {
	web, err := os.MkdirTemp("", "dex-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"static", "templates", filepath.Join("themes", "coreos")} {
		if err := os.MkdirAll(filepath.Join(web, name), 0o700); err != nil {
			return "", err
		}
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(web, "templates", name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return web, nil
}

func fill(known storage.Storage, client storage.Client, emails []string) (storage.Storage, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return nil, err
	}
	for _, email := range emails {
		one := storage.Password{Email: email, Hash: hash, Username: email, UserID: "id-of-" + email}
		if err := known.CreatePassword(one); err != nil {
			return nil, err
		}
	}
	for _, one := range []storage.Connector{
		{ID: server.LocalConnector, Type: server.LocalConnector, Name: "Password"},
		{ID: "mock", Type: "mockCallback", Name: "Group"},
	} {
		if err := known.CreateConnector(one); err != nil {
			return nil, err
		}
	}
	return known, known.CreateClient(client)
}
