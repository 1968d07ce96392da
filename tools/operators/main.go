// Command operators checks files for Docker and Kubernetes with the libraries of docker compose and helm:
//
//	operators compose FILE    prints the whole configuration as JSON
//	operators chart FOLDER    reads a list of [install] as JSON, lints and renders the chart so, and
//	                          prints a list of [outcome]
//
// It is a module of its own, so that these libraries are no affair of Muster's.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/strvals"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

func main() {
	var out any
	err := errors.New("usage: operators compose FILE | chart FOLDER")
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "compose":
			out, err = compose(os.Args[2])
		case "chart":
			out, err = chart(os.Args[2], os.Stdin)
		}
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "operators:", err)
		os.Exit(1)
	}
}

// compose loads a file with the variables of the environment.
func compose(file string) (any, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv, cli.WithResolvedPaths(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

// install is the values for which a chart is rendered.
type install struct {
	// Values is a file in the chart's folder, or empty. Set is the value of helm's --set.
	Values, Set string
}

// outcome is the manifests of a chart, or the error that helm reports.
type outcome struct {
	Error     string
	Manifests []any
}

// chart renders a chart once for each install in a list.
func chart(folder string, in io.Reader) (all []outcome, err error) {
	var installs []install
	if err := json.NewDecoder(in).Decode(&installs); err != nil {
		return nil, err
	}
	for _, i := range installs {
		var o outcome
		if o.Manifests, err = render(folder, i); err != nil {
			o = outcome{Error: err.Error()}
		}
		all = append(all, o)
	}
	return all, nil
}

// kubernetes is the release for which charts are rendered.
var kubernetes = chartutil.KubeVersion{Version: "v1.32.0", Major: "1", Minor: "32"}

// render renders a chart as helm template does, lints it as helm lint --strict does, and reads the
// manifests as Kubernetes does.
func render(folder string, with install) (all []any, err error) {
	values := chartutil.Values{}
	if with.Values != "" {
		if values, err = chartutil.ReadValuesFile(filepath.Join(folder, with.Values)); err != nil {
			return nil, err
		}
	}
	if err := strvals.ParseInto(with.Set, values); err != nil {
		return nil, err
	}
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	known := chartutil.DefaultCapabilities.Copy()
	known.KubeVersion = kubernetes
	if !chartutil.IsCompatibleRange(chart.Metadata.KubeVersion, kubernetes.Version) {
		return nil, fmt.Errorf("the chart is for Kubernetes %s", chart.Metadata.KubeVersion)
	}
	release := chartutil.ReleaseOptions{Name: "muster", Namespace: "games", Revision: 1, IsInstall: true}
	input, err := chartutil.ToRenderValues(chart, values, release, known)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, input)
	if err != nil {
		return nil, err
	}
	for _, message := range lint.AllWithKubeVersion(folder, values, release.Namespace, &kubernetes).Messages {
		if message.Severity >= support.WarningSev {
			return nil, message
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if filepath.Base(name) == "NOTES.txt" {
			continue
		}
		objects, err := manifests(strings.NewReader(files[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// kinds are the types of the manifests that the chart has. Others, such as those of the Prometheus
// operator, are taken as they are.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                 func() any { return new(apps.Deployment) },
	"v1 Service":                         func() any { return new(core.Service) },
	"v1 ServiceAccount":                  func() any { return new(core.ServiceAccount) },
	"v1 ConfigMap":                       func() any { return new(core.ConfigMap) },
	"v1 PersistentVolumeClaim":           func() any { return new(core.PersistentVolumeClaim) },
	"policy/v1 PodDisruptionBudget":      func() any { return new(policy.PodDisruptionBudget) },
	"networking.k8s.io/v1 Ingress":       func() any { return new(networking.Ingress) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networking.NetworkPolicy) },
}

// manifests reads documents of YAML. Unknown fields, fields of another type and fields that stand twice
// are errors.
func manifests(r io.Reader) (all []any, err error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(r))
	for {
		text, err := documents.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		var head struct{ APIVersion, Kind string }
		if err := strict.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, text)
		}
		if head.Kind == "" {
			continue // nothing, or only comments
		}
		var object any = new(map[string]any)
		if is := kinds[head.APIVersion+" "+head.Kind]; is != nil {
			object = is()
		}
		if err := strict.UnmarshalStrict(text, object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", head.APIVersion, head.Kind, err)
		}
		all = append(all, object)
	}
}
