// A registry for images, which is the distribution project's own: it serves on loopback until its standard input ends, and
// prints its address. With a credential it lets nobody in who does not show it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"

	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	folder := flag.String("folder", "", "where it keeps images")
	address := flag.String("listen", "127.0.0.1:0", "where it listens")
	credential := flag.String("credential", "", "who may pull and push, as in user:password; everybody without it")
	flag.Parse()
	logrus.SetLevel(logrus.FatalLevel) // pushing asks for what is not there yet

	config := &configuration.Configuration{Version: "0.1"}
	config.Log.AccessLog.Disabled = true
	config.HTTP.Secret = "test"
	config.Storage = configuration.Storage{"filesystem": {"rootdirectory": *folder}}
	if *credential != "" {
		config.Auth = configuration.Auth{"htpasswd": {"realm": "test", "path": passwordsOf(*credential, *folder)}}
	}

	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		log.Fatal(http.Serve(listener, handlers.NewApp(context.Background(), config)))
	}()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// A file as htpasswd(1) writes it, with one line.
func passwordsOf(credential, folder string) string {
	user, password, _ := strings.Cut(credential, ":")
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(folder, "htpasswd")
	if err := os.WriteFile(file, []byte(user+":"+string(hash)+"\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	return file
}
