package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

const usage = `Usage: helm template NAME CHART [--namespace N] [--values FILE|-]...
  [--kube-version V] [--api-versions GROUP/VERSION[/KIND]]...
  [--include-crds] [--skip-tests]`

// all holds every value of a flag that may be given more than once.
type all []string

func (a *all) String() string     { return strings.Join(*a, ",") }
func (a *all) Set(v string) error { *a = append(*a, v); return nil }

type options struct {
	name, chart, namespace, kubeVersion string
	values, apiVersions                 all
	includeCRDs, skipTests              bool
}

// helm is `helm template` alone, made of Helm's own packages and without those that talk to clusters, registries and
// repositories, which are half of the whole program. What both print is the same, byte for byte
// (test/engines/gitops/charts.test.ts).
func helm(args []string, out io.Writer) error {
	if len(args) < 3 || args[0] != "template" {
		return errors.New(usage)
	}
	o := options{name: args[1], chart: args[2]}
	flags := flag.NewFlagSet("template", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.namespace, "namespace", "default", "")
	flags.StringVar(&o.kubeVersion, "kube-version", "", "")
	flags.Var(&o.values, "values", "")
	flags.Var(&o.apiVersions, "api-versions", "")
	flags.BoolVar(&o.includeCRDs, "include-crds", false, "")
	flags.BoolVar(&o.skipTests, "skip-tests", false, "")
	if err := flags.Parse(args[3:]); err != nil {
		return err
	}
	text, err := template(o)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// template does what `helm template` does in its order: see RunWithContext and renderResources of Helm's package action.
func template(o options) ([]byte, error) {
	values, err := valuesOf(o.values)
	if err != nil {
		return nil, err
	}
	ch, err := loader.Load(o.chart)
	if err != nil {
		return nil, err
	}
	if err := requireInstallable(ch); err != nil {
		return nil, err
	}
	capabilities, err := capabilitiesOf(o)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(ch, values); err != nil {
		return nil, fmt.Errorf("chart dependencies processing failed: %w", err)
	}
	about := common.ReleaseOptions{Name: o.name, Namespace: o.namespace, Revision: 1, IsInstall: true}
	toRender, err := util.ToRenderValues(ch, values, about, capabilities)
	if err != nil {
		return nil, err
	}
	if wanted := ch.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, capabilities.KubeVersion.String()) {
		return nil, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", wanted, capabilities.KubeVersion.Version)
	}
	var e engine.Engine
	files, err := e.Render(ch, toRender)
	if err != nil {
		return nil, err
	}
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	return written(ch, hooks, manifests, o), nil
}

func valuesOf(files []string) (map[string]any, error) {
	values := map[string]any{}
	for _, file := range files {
		data, err := read(file)
		if err != nil {
			return nil, err
		}
		more, err := loader.LoadValues(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("failed to parse %s: %w", file, err)
		}
		values = loader.MergeMaps(values, more)
	}
	return values, nil
}

func read(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
}

func requireInstallable(ch *chart.Chart) error {
	if kind := ch.Metadata.Type; kind != "" && kind != "application" {
		return fmt.Errorf("%s charts are not installable", kind)
	}
	var missing []string
	for _, wanted := range ch.Metadata.Dependencies {
		if !slices.ContainsFunc(ch.Dependencies(), func(d *chart.Chart) bool { return d.Name() == wanted.Name }) {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: %s", strings.Join(missing, ", "))
	}
	return nil
}

func capabilitiesOf(o options) (*common.Capabilities, error) {
	capabilities := common.DefaultCapabilities.Copy()
	if o.kubeVersion != "" {
		version, err := common.ParseKubeVersion(o.kubeVersion)
		if err != nil {
			return nil, fmt.Errorf("invalid kube version '%s': %w", o.kubeVersion, err)
		}
		capabilities.KubeVersion = *version
	}
	capabilities.APIVersions = append(capabilities.APIVersions, o.apiVersions...)
	return capabilities, nil
}

func written(ch *chart.Chart, hooks []*release.Hook, manifests []releaseutil.Manifest, o options) []byte {
	var kept, all bytes.Buffer
	if o.includeCRDs {
		for _, crd := range ch.CRDObjects() {
			fmt.Fprintf(&kept, "---\n# Source: %s\n%s\n", crd.Filename, crd.File.Data)
		}
	}
	for _, m := range manifests {
		fmt.Fprintf(&kept, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	fmt.Fprintln(&all, strings.TrimSpace(kept.String()))
	for _, hook := range hooks {
		if o.skipTests && slices.Contains(hook.Events, release.HookTest) {
			continue
		}
		fmt.Fprintf(&all, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
	}
	return all.Bytes()
}
