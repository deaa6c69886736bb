// Provisions the volumes of a node that is the only one of its cluster: folders on its disk, for volumes of the class `standard`.
// storage KUBECONFIG NODE FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

const name = "local.berth.dev"

type folders struct {
	node   string
	parent string
}

// Provision makes a folder. Any user may write to it, as to the root of a fresh disk once the kubelet has given it to the pod's group.
func (f folders) Provision(_ context.Context, options controller.ProvisionOptions) (*core.PersistentVolume, controller.ProvisioningState, error) {
	path := filepath.Join(f.parent, options.PVName)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	here := core.NodeSelectorRequirement{Key: core.LabelHostname, Operator: core.NodeSelectorOpIn, Values: []string{f.node}}
	affinity := core.VolumeNodeAffinity{Required: &core.NodeSelector{
		NodeSelectorTerms: []core.NodeSelectorTerm{{MatchExpressions: []core.NodeSelectorRequirement{here}}},
	}}
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: options.PVName},
		Spec: core.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			VolumeMode:                    options.PVC.Spec.VolumeMode,
			Capacity:                      core.ResourceList{core.ResourceStorage: options.PVC.Spec.Resources.Requests[core.ResourceStorage]},
			PersistentVolumeSource:        core.PersistentVolumeSource{Local: &core.LocalVolumeSource{Path: path}},
			NodeAffinity:                  &affinity,
		},
	}, controller.ProvisioningFinished, nil
}

// Delete removes the folder. Only one that Provision could have made: the path of a volume is whatever its object says.
func (f folders) Delete(_ context.Context, volume *core.PersistentVolume) error {
	path := filepath.Join(f.parent, volume.Name)
	if volume.Spec.Local == nil || volume.Spec.Local.Path != path {
		return fmt.Errorf("volume %s is not at %s", volume.Name, path)
	}
	return os.RemoveAll(path)
}

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: storage KUBECONFIG NODE FOLDER"))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fail(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	ctx := klog.NewContext(context.Background(), klog.Background())
	provisioner := folders{node: os.Args[2], parent: os.Args[3]}
	controller.NewProvisionController(ctx, client, name, provisioner, controller.LeaderElection(false)).Run(ctx)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "storage:", err)
	os.Exit(1)
}
