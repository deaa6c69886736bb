// The commands `snapshot save` of etcdctl and `snapshot restore` of etcdutl, which people have from their own release of etcd:
// etcd-snapshot save FILE --endpoints unix:///path/etcd.sock
// etcd-snapshot restore FILE --data-dir FOLDER
package main

import (
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
)

func main() {
	os.Args = append([]string{os.Args[0], "snapshot"}, os.Args[1:]...)
	if len(os.Args) > 2 && os.Args[2] == "save" {
		ctlv3.MustStart()
		return
	}
	root := &cobra.Command{Use: "etcdutl"}
	root.AddCommand(etcdutl.NewSnapshotCommand())
	if root.Execute() != nil {
		os.Exit(1)
	}
}
