// A registry for images, which is the distribution project's own: it serves on loopback until its standard input ends, and
// prints its address.
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

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	"github.com/sirupsen/logrus"

	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	folder := flag.String("folder", "", "where it keeps images")
	flag.Parse()
	logrus.SetLevel(logrus.ErrorLevel)

	config := &configuration.Configuration{Version: "0.1"}
	config.Log.AccessLog.Disabled = true
	config.HTTP.Secret = "test"
	config.Storage = configuration.Storage{"filesystem": {"rootdirectory": *folder}}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		log.Fatal(http.Serve(listener, handlers.NewApp(context.Background(), config)))
	}()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}
