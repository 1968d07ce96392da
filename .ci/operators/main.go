// Command operators checks files that are for other people's programs, as those programs read them:
//
//	operators compose FILE    as docker compose does; prints the whole configuration as JSON
//	operators manifests       Kubernetes' manifests on standard input; prints them as JSON
//
// It is a module of its own, so that the libraries which read these files are no affair of Muster's.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

func main() {
	var out any
	err := errors.New("usage: operators compose FILE | manifests")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "compose":
		out, err = compose(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "manifests":
		out, err = manifests(os.Stdin)
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

// kinds are the types of the manifests that the chart has. Others, such as those of the Prometheus
// operator, are printed as they are.
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
		if head.Kind == "" && len(bytes.TrimSpace(text)) > 0 {
			continue // only comments
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
