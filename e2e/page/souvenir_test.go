package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/catalogue"
)

// TestHostileSouvenir checks that the picture that people share is well-formed for all names. It
// contains only shapes and text, loads nothing, and marks estimates.
func TestHostileSouvenir(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"<script>alert(1)</script>", `"/><image href="http://192.0.2.1/x"/>`, "]]>&amp;<!--",
		"a\x00b\x1b[2J\u202eevil\ufffe", strings.Repeat("Z\u0301\u0327", 400),
		"🦊👩‍👩‍👧‍👦", "مرحبا", "名前名前名前名前名前", "\ufffd", "", "'onload='alert(1)",
	}
	type someone struct {
		Name      string  `json:"name"`
		Arrival   int     `json:"arrival"`
		MS        float64 `json:"ms"`
		Estimated bool    `json:"estimated"`
	}
	type result struct {
		Game    string    `json:"game"`
		Server  string    `json:"server"`
		Country string    `json:"country"`
		Mean    float64   `json:"mean"`
		People  []someone `json:"people"`
	}
	var results []result
	for _, name := range hostile {
		r := result{Game: name, Server: name, Country: name, Mean: 58}
		for i := range 20 {
			r.People = append(r.People, someone{name, i, float64(i * 30), i == 2})
		}
		results = append(results, r)
	}
	results = append(results, result{}, result{Server: "one", People: []someone{{"ann", 0, 1e9, false}}})
	input, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	const script = `
		const { pictureOf } = await import("../../web/static/souvenir.js");
		const results = JSON.parse(readFileSync(0, "utf8"));
		results.push({game: "\ud800", server: "\udfff lone", country: "", mean: NaN, people: []});
		console.log(JSON.stringify(results.map((result) => pictureOf({...result, people: result.people ?? []}))));`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "--input-type=module", "-e", likePage+script)
	node.Env = append(os.Environ(), "LANG="+catalogue.English)
	node.Stdin = bytes.NewReader(input)
	out, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pictures []string
	if err := json.Unmarshal(out, &pictures); err != nil {
		t.Fatal(err)
	}
	const longest = 20_000 // bytes, of a picture of 16 people
	for i, picture := range pictures {
		text, err := drawn(picture)
		if err != nil {
			t.Errorf("picture %d: %v\n%.600s", i, err, picture)
		}
		if len(picture) > longest {
			t.Errorf("picture %d has %d bytes", i, len(picture))
		}
		if i < len(hostile) && (!strings.Contains(text, "≈ 60 ms") || strings.Contains(text, "≈ 30 ms") ||
			!strings.Contains(text, "and 4 more")) {
			t.Errorf("picture %d says %.300q", i, text)
		}
	}
	if text, _ := drawn(pictures[0]); !strings.Contains(text, "<script") {
		t.Errorf("a name is not shown as it is: %.300q", text)
	}
}

// drawn returns the text of an SVG picture, or an error if it has more than shapes and text.
func drawn(picture string) (string, error) {
	var text strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return text.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "title", "rect", "circle", "path", "g", "text", "tspan", "defs", "radialGradient", "linearGradient", "stop"}, token.Name.Local) {
				return "", errors.New("an element " + token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
					return "", errors.New("an attribute " + a.Name.Local)
				}
			}
		case xml.CharData:
			text.Write(token)
			text.WriteByte('\n')
		case xml.Comment, xml.ProcInst, xml.Directive:
			return "", errors.New("more than elements and text")
		}
	}
}
