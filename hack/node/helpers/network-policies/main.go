// Enforces NetworkPolicies on a node, by the firewall of kube-router. It wants iptables and ipset on its PATH, and tables that nobody
// else writes.
// network-policies KUBECONFIG NODE ADDRESS SERVICES, as in network-policies admin.kubeconfig node-1 10.244.0.1 10.96.0.0/16
package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) != 5 {
		fail(fmt.Errorf("usage: network-policies KUBECONFIG NODE ADDRESS SERVICES"))
	}
	if err := enforce(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "network-policies:", err)
	os.Exit(1)
}

func enforce(ctx context.Context, kubeconfig, node, address, services string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()

	chosen := options.NewKubeRouterConfig()
	chosen.EnableIPv4 = true
	chosen.HostnameOverride = node
	chosen.ClusterIPCIDRs = []string{services}
	// Kubernetes lets a pod reach its own node whatever its policies say. kube-router does not, but it lets anybody reach addresses of
	// the node that it believes to be those of Services.
	chosen.ExternalIPCIDRs = []string{address + "/32"}
	tables, sets, err := netpol.NewIPTablesHandlers(chosen)
	if err != nil {
		return err
	}
	// It fails until the kubelet has registered the node, and is started again.
	firewall, err := netpol.NewNetworkPolicyController(client, chosen, pods, policies, namespaces, &sync.Mutex{}, tables, sets)
	if err != nil {
		return err
	}
	handlers := map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: firewall.PodEventHandler, namespaces: firewall.NamespaceEventHandler, policies: firewall.NetworkPolicyEventHandler,
	}
	for informer, handler := range handlers {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	// With a part of the objects it would open, and close, what it should not.
	factory.WaitForCacheSync(ctx.Done())

	// Each round says that it lives, and waits until somebody has heard it.
	heartbeats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range heartbeats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	firewall.Run(heartbeats, ctx.Done(), &running)
	return nil
}
