//go:build linux

package program_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster/host/wire"
	"muster/internal/freeport"
)

// TestContainer builds the program as the Containerfile does, and runs it as the image would. The
// folder contains only the files that the Containerfile copies, and user and variables are the
// image's.
func TestContainer(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a folder of its own")
	}
	file := documented(t, "Containerfile")
	says := func(pattern string) string {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + pattern).FindStringSubmatch(file)
		if found == nil {
			t.Fatalf("the Containerfile has no %s", pattern)
		}
		return found[1]
	}
	root := t.TempDir()
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	makes := says(`RUN (CGO_ENABLED=0 .*go build .*)$`)
	build := exec.Command("sh", "-c", strings.ReplaceAll(makes, "/out/", root+"/"))
	build.Dir, build.Env = "../..",
		append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH, "LDFLAGS="+says(`ARG LDFLAGS="(.*)"$`))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", makes, err, out)
	}
	var uid, gid int
	if _, err := fmt.Sscanf(says(`USER (\d+:\d+)$`), "%d:%d", &uid, &gid); err != nil || uid == 0 {
		t.Fatal("the image runs as root: ", err)
	}
	if !strings.Contains(file, fmt.Sprintf("COPY --from=build --chown=%d:%d /out/ /\n", uid, gid)) {
		t.Error("what is copied belongs to somebody else")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.Chown(filepath.Join(root, entry.Name()), uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	var entrypoint []string
	if err := json.Unmarshal([]byte(says(`ENTRYPOINT (\[.*\])$`)), &entrypoint); err != nil {
		t.Fatal(err)
	}
	volume, at := says(`VOLUME (\S+)$`), freeport.TCP(t)
	if says(`EXPOSE (\d+)$`) != "7777" {
		t.Error("the image shows another port than the program has")
	}
	contained := func() *process {
		cmd := exec.Command(entrypoint[0], append(slices.Clone(entrypoint[1:]), "--listen", at)...)
		cmd.Dir, cmd.Env = "/", append(strings.Fields(says(`ENV (.*)$`)), "MUSTER_SERVE_PUBLIC_URL=http://"+at)
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return start(t, "container", cmd)
	}
	if info, err := os.Stat(filepath.Join(root, "muster-discord")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the image has no muster-discord: %v", err)
	}
	p := contained()
	if text := answers(t, "http://"+at+"/readyz"); text != "ready\n" {
		t.Errorf("it says %q", text)
	}
	code, _ := opensRoom(t, at)
	if status := p.ends(syscall.SIGTERM); status != 0 {
		t.Errorf("it ends with %d", status)
	}
	if _, err := os.Stat(filepath.Join(root, volume, "muster/rooms.db")); err != nil {
		t.Error("the rooms are not in the volume: ", err)
	}
	p = contained()
	awaitRoom(t, at, code, "the room is there again", func(wire.Document) bool { return true })
	if !strings.Contains(p.out.String(), `"level":"INFO"`) && strings.Contains(p.out.String(), "level=") {
		t.Errorf("its log is %s", p.out)
	}
}
