package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

const sums = `1111111111111111111111111111111111111111111111111111111111111111  muster_1.2.0_linux_amd64.tar.gz
2222222222222222222222222222222222222222222222222222222222222222 *muster_1.2.0_linux_arm64.tar.gz
3333  muster_1.2.1_linux_amd64.tar.gz
`

// TestFill checks that the files of a Flatpak name the release and its sums, and no placeholder is left.
func TestFill(t *testing.T) {
	r := release{version: "1.2.0", owner: "ann-lee", date: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)}
	values, err := r.values([]byte(sums))
	if err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"manifest.yaml": {
			"id: io.github.ann_lee.muster\n", "https://github.com/ann-lee/muster/releases/download/v1.2.0/muster_1.2.0_linux_amd64.tar.gz\n        sha256: '1111",
			"muster_1.2.0_linux_arm64.tar.gz\n        sha256: '2222", "path: io.github.ann_lee.muster.join.desktop",
		},
		"metainfo.xml":           {"<id>io.github.ann_lee.muster</id>", `<release version="1.2.0" date="2026-11-26" type="stable">`},
		"../muster.desktop":      {"Icon=io.github.ann_lee.muster\n", "Exec=muster\n"},
		"../muster-join.desktop": {"Icon=io.github.ann_lee.muster\n", "Exec=muster open %u\n"},
	} {
		text, err := os.ReadFile("../../../packaging/flatpak/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got := string(fill(text, values))
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", file, want, got)
			}
		}
		if left := regexp.MustCompile(`APPID|SITE|VERSION|DATE|KIND|SHA256_|OWNER`).FindString(got); left != "" {
			t.Errorf("%s has %s left:\n%s", file, left, got)
		}
	}
}

// TestRefused checks that no Flatpak is made of a release that is not whole.
func TestRefused(t *testing.T) {
	for name, r := range map[string]release{
		"nobody's": {version: "1.2.0"}, "no version": {owner: "ann"}, "another version": {owner: "ann", version: "1.2.1"}, "none": {owner: "ann", version: "9"},
		"a path": {owner: "ann/..", version: "1.2.0"},
	} {
		if values, err := r.values([]byte(sums)); err == nil {
			t.Errorf("%s gives %q", name, values)
		}
	}
	if id := (release{owner: "0x-y"}).id(); id != "io.github._0x_y.muster" {
		t.Errorf("the id is %s", id)
	}
}
