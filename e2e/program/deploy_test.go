package program_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"muster/host/wire"
	"muster/internal/freeport"
)

// hostDrain is how long a host takes at most to end after SIGTERM, as docs/serve/run.md promises.
const hostDrain = 5 * time.Second

// reads runs tools/operators, which reads compose files and charts as Docker and Helm do, and returns its JSON.
func reads(t *testing.T, input string, env []string, args ...string) (gjson.Result, error) {
	t.Helper()
	cmd := exec.Command(goBin(t, "muster-operators"), args...)
	cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), env...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return gjson.Result{}, fmt.Errorf("%w: %s", err, &complaint)
	}
	return gjson.ParseBytes(out), nil
}

// install is the values for the chart: a file in its folder, or what helm's --set says.
type install struct{ Values, Set string }

// render lints and renders the chart for each install. A result has Manifests, or an Error.
func render(t *testing.T, installs ...install) []gjson.Result {
	t.Helper()
	input, err := json.Marshal(installs)
	if err != nil {
		t.Fatal(err)
	}
	results, err := reads(t, string(input), nil, "chart", "../../docs/serve/chart")
	if err != nil {
		t.Fatal(err)
	}
	return results.Array()
}

// rendered returns the manifests of the chart with some values, by kind.
func rendered(t *testing.T, values string) map[string]gjson.Result {
	t.Helper()
	result := render(t, install{Values: "ci/" + values})[0]
	if fault := result.Get("Error").String(); fault != "" {
		t.Fatalf("%s: %s", values, fault)
	}
	kinds := map[string]gjson.Result{}
	for _, object := range result.Get("Manifests").Array() {
		kinds[object.Get("kind").String()] = object
	}
	return kinds
}

// environment returns the variables of a container as the kubelet fills them in for a pod.
func environment(container gjson.Result, pod, ip string) (env []string) {
	known := map[string]string{}
	for _, v := range container.Get("env").Array() {
		value := v.Get("value").String()
		switch v.Get("valueFrom.fieldRef.fieldPath").String() {
		case "metadata.name":
			value = pod
		case "status.podIP":
			value = ip
		}
		for name, text := range known {
			value = strings.ReplaceAll(value, "$("+name+")", text)
		}
		known[v.Get("name").String()] = value
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		env = append(env, name+"="+known[name])
	}
	return env
}

// TestChart checks the chart with Helm's own lint and each of its example values. Kubernetes' types
// take the manifests, selectors and ports meet, a pod gets longer to end than a host needs, and the
// real program takes the variables that a pod has. No cluster runs here: what an API server would add
// to that is not tested.
func TestChart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values string
		kinds  string
	}{
		{"file-values.yaml", "Deployment PersistentVolumeClaim Service"},
		{"cluster-values.yaml", "Deployment PodDisruptionBudget Service"},
		{"full-values.yaml", "ConfigMap Deployment Ingress NetworkPolicy PodDisruptionBudget PrometheusRule Service ServiceMonitor"},
	} {
		t.Run(c.values, func(t *testing.T) {
			t.Parallel()
			kinds := rendered(t, c.values)
			if got := strings.Join(slices.Sorted(maps.Keys(kinds)), " "); got != c.kinds {
				t.Errorf("the chart makes %s, not %s", got, c.kinds)
			}
			checkDeployment(t, kinds)
			checkAround(t, kinds)
			container := kinds["Deployment"].Get("spec.template.spec.containers.0")
			secrets := t.TempDir()
			cert, _ := keyPair(t, 1)
			authority, err := os.ReadFile(cert)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{"leagues/leagues": "# none yet\n", "nats/nats.creds": "-----BEGIN NATS USER JWT-----\n",
				"ca/ca.pem": string(authority)}
			for name, text := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(secrets, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(secrets, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := command(t, t.TempDir(), "serve", "--check-config")
			for _, v := range environment(container, "muster-7d4f", "127.0.0.1") {
				cmd.Env = append(cmd.Env, strings.ReplaceAll(v, "=/secrets/", "="+secrets+"/"))
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("muster serve --check-config with a pod's variables: %v\n%s", err, out)
			}
		})
	}
}

// checkDeployment checks the pods.
func checkDeployment(t *testing.T, kinds map[string]gjson.Result) {
	t.Helper()
	pod := kinds["Deployment"].Get("spec.template.spec")
	container := pod.Get("containers.0")
	ports := map[string]bool{}
	for _, p := range container.Get("ports").Array() {
		ports[p.Get("name").String()] = true
	}
	for probe, path := range map[string]string{"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"} {
		if get := container.Get(probe + ".httpGet"); get.Get("path").String() != path || !ports[get.Get("port").String()] {
			t.Errorf("the %s asks %s", probe, get)
		}
	}
	grace := time.Duration(pod.Get("terminationGracePeriodSeconds").Int()) * time.Second
	waits := time.Duration(container.Get("lifecycle.preStop.sleep.seconds").Int()) * time.Second
	if grace < waits+hostDrain {
		t.Errorf("a pod gets %v to end, waits %v of that, and a host needs %v", grace, waits, hostDrain)
	}
	volumes := map[string]bool{}
	for _, v := range pod.Get("volumes").Array() {
		volumes[v.Get("name").String()] = true
	}
	unused := maps.Clone(volumes)
	for _, c := range pod.Get("containers").Array() {
		for _, m := range c.Get("volumeMounts").Array() {
			if !volumes[m.Get("name").String()] {
				t.Errorf("no volume is called %s", m.Get("name"))
			}
			delete(unused, m.Get("name").String())
		}
		for path, want := range map[string]string{
			"securityContext.readOnlyRootFilesystem": "true", "securityContext.allowPrivilegeEscalation": "false",
			"securityContext.capabilities.drop.0": "ALL",
		} {
			if got := c.Get(path).String(); got != want {
				t.Errorf("%s of the container %s is %q", path, c.Get("name"), got)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("nothing uses the volumes %v", unused)
	}
	if !pod.Get("securityContext.runAsNonRoot").Bool() || pod.Get("automountServiceAccountToken").String() != "false" {
		t.Error("the pod may be root, or has a token for Kubernetes")
	}
	if text := kinds["Deployment"].Raw; strings.Contains(text, "BEGIN ") {
		t.Error("the deployment has a secret in it")
	}
}

// checkAround checks what finds the pods.
func checkAround(t *testing.T, kinds map[string]gjson.Result) {
	t.Helper()
	labels := kinds["Deployment"].Get("spec.template.metadata.labels").Map()
	finds := func(what string, selector gjson.Result) {
		t.Helper()
		for name, value := range selector.Map() {
			if labels[name].String() != value.String() {
				t.Errorf("the %s does not find the pods: %s", what, selector)
			}
		}
		if len(selector.Map()) == 0 {
			t.Errorf("the %s finds everything", what)
		}
	}
	finds("deployment", kinds["Deployment"].Get("spec.selector.matchLabels"))
	finds("service", kinds["Service"].Get("spec.selector"))
	if kinds["Deployment"].Get("spec.replicas").Int() > 1 {
		budget := kinds["PodDisruptionBudget"].Get("spec")
		finds("budget", budget.Get("selector.matchLabels"))
		if budget.Get("maxUnavailable").Int() != 1 || kinds["Deployment"].Get("spec.strategy.rollingUpdate.maxUnavailable").String() != "0" {
			t.Errorf("hosts do not end one after the other: %s", budget)
		}
	}
	if policy, is := kinds["NetworkPolicy"]; is {
		finds("policy", policy.Get("spec.podSelector.matchLabels"))
		rules := policy.Get("spec.ingress").Array()
		if len(rules) != 2 || len(rules[0].Get("from").Array()) != 2 || rules[0].Get("ports.0.port").String() != "http" {
			t.Errorf("the policy lets in %v", rules)
		}
		finds("policy's rule for hosts", rules[1].Get("from.0.podSelector.matchLabels"))
	}
	if monitor, is := kinds["ServiceMonitor"]; is {
		service := kinds["Service"]
		for name, value := range monitor.Get("spec.selector.matchLabels").Map() {
			if service.Get("metadata.labels").Map()[name].String() != value.String() {
				t.Errorf("the monitor does not find the service: %s", monitor.Get("spec.selector"))
			}
		}
		if port := monitor.Get("spec.endpoints.0.port").String(); service.Get("spec.ports.0.name").String() != port {
			t.Errorf("the monitor asks the port %s", port)
		}
	}
	if bot := kinds["Deployment"].Get("spec.template.spec.containers.1"); bot.Exists() {
		checkDiscord(t, kinds, bot)
	}
	if ingress, is := kinds["Ingress"]; is && (ingress.Get("spec.rules.0.host").String() != "muster.example" ||
		ingress.Get("spec.rules.0.http.paths.0.backend.service.name").String() != kinds["Service"].Get("metadata.name").String()) {
		t.Errorf("the ingress leads %s", ingress.Get("spec"))
	}
	if rules, is := kinds["PrometheusRule"]; is && len(rules.Get("spec.groups.0.rules").Array()) != len(alerts(t)) {
		t.Error("the chart does not have all alerts")
	}
	if board, is := kinds["ConfigMap"]; is && board.Get(`data.muster\.json`).String() != documented(t, "dashboard.json") {
		t.Error("the chart has another dashboard")
	}
}

// checkDiscord checks that the Ingress leads Discord to the program that answers it, and that the program takes its
// arguments.
func checkDiscord(t *testing.T, kinds map[string]gjson.Result, bot gjson.Result) {
	t.Helper()
	path, port := kinds["Ingress"].Get("spec.rules.0.http.paths.0"), kinds["Service"].Get("spec.ports.1")
	if path.Get("path").String() != "/discord" || path.Get("backend.service.port.name").String() != port.Get("name").String() ||
		port.Get("targetPort").String() != bot.Get("ports.0.name").String() {
		t.Errorf("Discord comes by %s and %s to %s", path, port, bot)
	}
	file := filepath.Join(t.TempDir(), "discord.txt")
	text := "application 1290000000000000001\npublic-key ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c\n" +
		"secret 9f2c8e61b7d04a35a1e0\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, arg := range bot.Get("args").Array() {
		args = append(args, strings.NewReplacer("/secrets/discord/discord.txt", file, ":7778", freeport.TCP(t)).Replace(arg.String()))
	}
	start(t, "muster-discord", exec.Command(musterDiscord(t), args...)).awaits("answering Discord.*rooms=https://muster.example")
}

// TestChartRefuses checks that a chart with missing or wrong values makes nothing, and names the value.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	const whole = "publicUrl=https://m.example,image.repository=r,image.tag=v1,nats.url=nats://n:4222"
	cases := []struct{ set, want string }{
		{"", "publicUrl is missing"},
		{"publicUrl=m.example", "publicUrl is m.example: write it with its scheme"},
		{"publicUrl=https://m.example/path", "without a path"},
		{"publicUrl=https://m.example", "image.repository is missing"},
		{"publicUrl=https://m.example,image.repository=r", "image.tag is missing"},
		{"publicUrl=https://m.example,image.repository=r,image.tag=v1", "nats.url or persistence.enabled is missing"},
		{"publicUrl=https://m.example,image.repository=r,image.tag=v1,persistence.enabled=true,replicas=3", "replicas is 3"},
		{whole + ",persistence.enabled=true", "nats.url and persistence.enabled are both set"},
		{whole + ",nats.url=http://n", "nats.url is http://n"},
		{whole + ",replicas=0", "/replicas"},
		{whole + ",replicas=three", "/replicas"},
		{whole + ",replica=3", "replica"},
		{whole + ",settings.max_room=3", "max_room"},
		{whole + ",settings.max_rooms=many", "/settings/max_rooms"},
		{whole + ",settings.listen=:80", "listen"},
		{whole + ",trustedProxies={ingress}", "/trustedProxies/0"},
		{whole + ",ingress.enabled=true", "trustedProxies is missing"},
		{whole + ",metrics.serviceMonitor.enabled=true", "metrics.from is missing"},
		{whole + ",networkPolicy.enabled=true", "networkPolicy.proxies is missing"},
		{whole + ",drain.wait=10,drain.grace=12", "drain.grace is 12"},
		{whole + ",drain.grace=soon", "/drain/grace"},
		{whole + ",persistence.size=big", "/persistence/size"},
		{whole + ",image.pullPolicy=Sometimes", "/image/pullPolicy"},
		{whole, ""},
	}
	var installs []install
	for _, c := range cases {
		installs = append(installs, install{Set: c.set})
	}
	for i, result := range render(t, installs...) {
		fault, makes := result.Get("Error").String(), len(result.Get("Manifests").Array()) > 0
		if c := cases[i]; !strings.Contains(fault, c.want) || (fault == "") != (c.want == "") || makes != (c.want == "") {
			t.Errorf("%s: %q, makes something: %v", c.set, fault, makes)
		}
	}
}

// TestChartSettings checks that the chart's schema has all settings of muster serve but those that the
// chart makes itself, and those that make no sense in a pod.
func TestChartSettings(t *testing.T) {
	t.Parallel()
	help, err := command(t, t.TempDir(), "serve", "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"listen", "public-url", "trusted-proxy", "metrics-from", "store", "nats", "nats-credentials", "nats-ca", "node",
		"cluster-listen", "replicas", "leagues"}
	senseless := []string{"import", "export", "check-config", "help", "language", "verbose", "tls-cert", "tls-key", "acme",
		"acme-accept-terms", "acme-email", "acme-cache", "acme-directory", "acme-ca"}
	schema := gjson.Parse(documented(t, "chart/values.schema.json")).Get("properties.settings.properties").Map()
	for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(string(help), -1) {
		key := strings.ReplaceAll(flag[1], "-", "_")
		if _, has := schema[key]; has == (slices.Contains(own, flag[1]) || slices.Contains(senseless, flag[1])) {
			t.Errorf("docs/serve/chart/values.schema.json has the setting %s: %v; a setting stands there, or else in this test with those "+
				"that the chart makes itself or a pod has no use for", key, has)
		}
		delete(schema, key)
	}
	for key := range schema {
		t.Errorf("muster serve has no setting %s", key)
	}
}

// TestChartRuns runs what a pod of the chart runs, with a real NATS server, and does with it what
// Kubernetes does: it asks the probes' paths, and ends it within the time that the chart gives.
func TestChartRuns(t *testing.T) {
	t.Parallel()
	at, _ := startNATS(t)
	deployment := rendered(t, "cluster-values.yaml")["Deployment"]
	pod := deployment.Get("spec.template.spec")
	container := pod.Get("containers.0")
	listen := freeport.TCP(t)
	cmd := command(t, t.TempDir(), "serve")
	for _, v := range environment(container, "muster-7d4f", "127.0.0.1") {
		switch key, _, _ := strings.Cut(v, "="); key {
		case "MUSTER_SERVE_LISTEN":
			v = key + "=" + listen
		case "MUSTER_SERVE_NATS":
			v = key + "=nats://" + at
		case "MUSTER_SERVE_CLUSTER_LISTEN":
			v = key + "=127.0.0.1:0"
		}
		cmd.Env = append(cmd.Env, v)
	}
	p := start(t, "pod", cmd)
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		path := container.Get(probe + ".httpGet.path").String()
		eventually(t, path+" answers", func() bool {
			answer, err := http.Get("http://" + listen + path)
			if err != nil {
				return false
			}
			answer.Body.Close()
			return answer.StatusCode == http.StatusOK
		})
	}
	p.awaits(`node=muster-7d4f`)
	began := time.Now()
	p.cmd.Process.Signal(syscall.SIGTERM)
	grace := time.Duration(pod.Get("terminationGracePeriodSeconds").Int()-container.Get("lifecycle.preStop.sleep.seconds").Int()) * time.Second
	select {
	case <-p.done:
		t.Logf("the host has ended after %v, of %v", time.Since(began), grace)
	case <-time.After(grace):
		t.Errorf("the host has not ended after %v", grace)
	}
}

// TestCompose checks the compose file as docker compose reads it, with the library that docker compose
// is made of: Docker itself does not run here. The other files beside it are read by the programs
// that they are for.
func TestCompose(t *testing.T) {
	t.Parallel()
	const file = "../../docs/serve/compose/compose.yaml"
	_, err := reads(t, "", []string{"MUSTER_NAME="}, "compose", file)
	if err == nil || !strings.Contains(err.Error(), "MUSTER_NAME=muster.example") {
		t.Errorf("without a name: %v", err)
	}
	project, err := reads(t, "", []string{"MUSTER_NAME=muster.example"}, "compose", file)
	if err != nil {
		t.Fatal(err)
	}
	services := project.Get("services").Map()
	if got := strings.Join(slices.Sorted(maps.Keys(services)), " "); got != "caddy grafana host1 host2 host3 nats prometheus" {
		t.Errorf("the services are %s", got)
	}
	var targets []string
	for name, s := range services {
		for _, v := range s.Get("volumes").Array() {
			if v.Get("type").String() != "bind" {
				continue
			}
			if _, err := os.Stat(v.Get("source").String()); err != nil || !v.Get("read_only").Bool() {
				t.Errorf("%s has %s: %v", name, v, err)
			}
		}
		for _, p := range s.Get("ports").Array() {
			if name != "caddy" && p.Get("host_ip").String() != "127.0.0.1" {
				t.Errorf("everybody reaches %s at %s", name, p)
			}
		}
		if image := s.Get("image").String(); name[:4] != "host" && !regexp.MustCompile(`:v?\d`).MatchString(image) {
			t.Errorf("%s has any release of %s", name, image)
		}
		if !strings.HasPrefix(name, "host") {
			continue
		}
		targets = append(targets, name+":7777")
		if s.Get("hostname").String() != name {
			t.Errorf("%s is called %s", name, s.Get("hostname"))
		}
		if grace, err := time.ParseDuration(s.Get("stop_grace_period").String()); err != nil || grace < hostDrain {
			t.Errorf("%s gets %v to end, %v", name, grace, err)
		}
		env := s.Get("environment")
		if proxy := services["caddy"].Get("networks.rooms.ipv4_address"); env.Get("MUSTER_SERVE_TRUSTED_PROXY").String() != proxy.String() {
			t.Errorf("%s trusts %s, and caddy is at %s", name, env, proxy)
		}
		if reads := services["prometheus"].Get("networks.rooms.ipv4_address"); env.Get("MUSTER_SERVE_METRICS_FROM").String() != reads.String() {
			t.Errorf("%s shows its metrics to %s, and prometheus is at %s", name, env, reads)
		}
		cmd := command(t, t.TempDir(), "serve", "--check-config")
		for key, value := range env.Map() {
			cmd.Env = append(cmd.Env, key+"="+value.String())
		}
		// As in its container, nobody else has port 7777.
		alone := exec.Command("unshare", append([]string{"-n"}, cmd.Args...)...)
		alone.Env = cmd.Env
		if out, err := alone.CombinedOutput(); err != nil {
			t.Errorf("muster serve --check-config of %s: %v\n%s", name, err, out)
		}
	}
	slices.Sort(targets)
	if site := documented(t, "compose/Caddyfile"); !strings.Contains(site, "reverse_proxy "+strings.Join(targets, " ")+" {") {
		t.Errorf("caddy does not lead to %v", targets)
	}
	if jobs := documented(t, "compose/prometheus.yml"); !strings.Contains(jobs, `["`+strings.Join(targets, `", "`)+`"]`) {
		t.Errorf("prometheus does not read %v", targets)
	}
	for _, name := range []string{"datasource.yml", "dashboards.yml"} {
		var provision map[string]any
		if err := yaml.Unmarshal([]byte(documented(t, "compose/grafana/"+name)), &provision); err != nil || provision["apiVersion"] != 1 {
			t.Errorf("%s: %v, %v", name, provision, err)
		}
	}
}

// TestComposed runs what the compose file runs but Grafana, on loopback and without Docker: the real
// nats-server, Caddy and Prometheus with the files that stand beside it, and three hosts. People come
// in through Caddy, and Prometheus reads all hosts and has no alert.
func TestComposed(t *testing.T) {
	t.Parallel()
	nats, proxy, prometheus := freeport.TCP(t), freeport.TCP(t), freeport.TCP(t)
	hosts := []string{freeport.TCP(t), freeport.TCP(t), freeport.TCP(t)}
	config := adapted(t, documented(t, "compose/nats.conf"), "0.0.0.0:4222", nats, "127.0.0.1:8222", freeport.TCP(t), "/data", t.TempDir())
	start(t, "nats", exec.Command(goBin(t, "nats-server"), "-c", writeFile(t, "nats.conf", config)))
	awaitPort(t, nats)
	for i, host := range hosts {
		run(t, t.TempDir(), fmt.Sprint("host", i+1), "serve", "--listen", host, "--nats", "nats://"+nats, "--node", fmt.Sprint("host", i+1),
			"--cluster-listen", "127.0.0.1:0", "--public-url", "http://"+proxy, "--trusted-proxy", "127.0.0.1").awaits(`(?m)^page `)
	}
	runCaddy(t, adapted(t, documented(t, "compose/Caddyfile"), "{$MUSTER_NAME}", "http://"+proxy, "host1:7777", hosts[0],
		"host2:7777", hosts[1], "host3:7777", hosts[2]))
	dir := t.TempDir()
	for name, text := range map[string]string{"alerts.yml": documented(t, "alerts.yml"), "prometheus.yml": adapted(t,
		documented(t, "compose/prometheus.yml"), "host1:7777", hosts[0], "host2:7777", hosts[1], "host3:7777", hosts[2],
		"interval: 15s", "interval: 1s")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, dir, "", "check", "config", "prometheus.yml")
	start(t, "prometheus", exec.Command("/opt/muster-e2e/prometheus/usr/bin/prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+prometheus, "--log.level=warn"))
	if page := answers(t, "http://"+proxy+"/"); !strings.Contains(strings.ToLower(page), "<!doctype html>") {
		t.Errorf("the page is %.200s", page)
	}
	code, link := opensRoom(t, proxy)
	run(t, t.TempDir(), "ann", "join", link, "--name", "ann", "--launch", "never")
	awaitRoom(t, proxy, code, "ann is in", func(r wire.Document) bool { return memberOf(r, "ann").Connected })
	query := func(q string) string {
		answer, err := http.Get("http://" + prometheus + "/api/v1/query?query=" + url.QueryEscape(q))
		if err != nil {
			return ""
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return gjson.GetBytes(text, "data.result.0.value.1").String()
	}
	for q, want := range map[string]string{
		`sum(up{job="muster"})`: "3", "min(muster_cluster_hosts)": "3", "sum(muster_peers)": "1", "sum(muster_rooms)": "1",
		"min(muster_store_up)": "1",
	} {
		eventually(t, q+" is "+want, func() bool { return query(q) == want })
	}
	// Prometheus takes every query of the dashboard.
	for _, p := range dashboard(t) {
		for _, target := range p.Targets {
			answer, err := http.Get("http://" + prometheus + "/api/v1/query?query=" + url.QueryEscape(filled.Replace(target.Expr)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || gjson.GetBytes(text, "status").String() != "success" {
				t.Errorf("the panel %s: %s, %v", p.Title, text, err)
			}
		}
	}
	var rules []gjson.Result
	eventually(t, "prometheus has evaluated all alerts", func() bool {
		answer, err := http.Get("http://" + prometheus + "/api/v1/rules")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		rules = gjson.GetBytes(text, `data.groups.0.rules.#(health!="unknown")#`).Array()
		return len(rules) == len(alerts(t))
	})
	for _, r := range rules {
		if r.Get("state").String() == "firing" || r.Get("health").String() != "ok" {
			t.Errorf("%s: %s %s", r.Get("name"), r.Get("state"), r.Get("lastError"))
		}
	}
}
