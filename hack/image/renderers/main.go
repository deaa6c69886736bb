// Command renderers is what Berth's image renders with, in one program because their libraries are nearly the same:
// the whole of kustomize, and of Helm what renders. It is whichever it is called.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/kustomize/v5/commands"
)

func main() {
	if filepath.Base(os.Args[0]) == "kustomize" {
		if commands.NewDefaultCommand().Execute() != nil {
			os.Exit(1)
		}
		return
	}
	if err := helm(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "Error: %s\n", err)
		os.Exit(1)
	}
}
