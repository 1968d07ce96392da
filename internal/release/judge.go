package release

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"
)

// judge returns what a signature proves of a file of that name, the zero Verdict without one.
func (k Keys) judge(name string, it content, signature []byte) Verdict {
	if signature == nil {
		return Verdict{}
	}
	var parsed minisign.Signature
	if err := parsed.UnmarshalText(signature); err != nil || parsed.Algorithm != minisign.HashEdDSA {
		return Verdict{Standing: Changed, Why: "its signature is damaged"}
	}
	known := false
	for _, key := range k.all {
		if key.ID() != parsed.KeyID {
			continue
		}
		if known = true; it.signed.Verify(key, signature) {
			return verdictOn(name, parsed.TrustedComment)
		}
	}
	if known {
		return Verdict{Standing: Changed, Why: "its signature is of something else"}
	}
	return Verdict{Standing: Friends, Why: "it is signed, but with another key than the project's"}
}

// judgeSums returns what a signed list of sums proves about a file with a name. It returns the zero
// Verdict if there is no list.
func (k Keys) judgeSums(name string, it content, sums, signature []byte) Verdict {
	if sums == nil || signature == nil {
		return Verdict{}
	}
	list := content{signed: minisign.NewReader(bytes.NewReader(sums))}
	io.Copy(io.Discard, list.signed) // reading from memory does not fail
	of := k.judge(SumsName, list, signature)
	if of.Standing != Own || of.File != SumsName {
		return Verdict{
			Standing: Friends,
			Why:      fmt.Sprintf("what %s beside it says does not count, as the project has not signed it so", SumsName),
		}
	}
	listed, isListed := "", false
	for line := range strings.Lines(string(sums)) {
		sum, file, ok := parseSum(line)
		if !ok {
			continue
		}
		isListed = isListed || file == name
		if sum == it.sum {
			listed = file
		}
	}
	switch {
	case listed != "":
		of.File = listed
		return of.named(name)
	case isListed:
		return Verdict{Standing: Changed, Why: fmt.Sprintf("%s has another sum for it", SumsName)}
	}
	return Verdict{Standing: Friends, Why: fmt.Sprintf("%s beside it does not list it", SumsName)}
}

// parseSum parses a line of sha256sum: 64 hexadecimal digits, a blank, a blank or a star, and a name.
func parseSum(line string) (sum [32]byte, file string, ok bool) {
	digits, rest, found := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	if !found || len(digits) != hex.EncodedLen(len(sum)) || rest == "" || !fileName.MatchString(rest[1:]) {
		return sum, "", false
	}
	_, err := hex.Decode(sum[:], []byte(digits))
	return sum, rest[1:], err == nil
}

// These match the project's names of files and releases. A terminal or a page takes them for plain text.
var (
	fileName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}$`)
	versionName = regexp.MustCompile(`^[0-9][A-Za-z0-9.+~-]{0,63}$`)
)

// Sign makes a signature that states s of a content.
func Sign(key minisign.PrivateKey, content io.Reader, s Statement) ([]byte, error) {
	if read, err := parseStatement(s.comment()); err != nil || read.comment() != s.comment() {
		return nil, fmt.Errorf("release: a signature cannot say %q", s.comment())
	}
	signed := minisign.NewReader(content)
	if _, err := io.Copy(io.Discard, signed); err != nil {
		return nil, err
	}
	return signed.SignWithComments(key, s.comment(), "Muster "+s.Version), nil
}

// comment returns the statement in its signed form.
func (s Statement) comment() string {
	return fmt.Sprintf("timestamp:%d\tfile:%s\tversion:%s", s.Date.Unix(), s.File, s.Version)
}

// parseStatement parses tab-separated fields, each a name, a colon and a value. The first two are minisign's own. It
// ignores unknown fields.
func parseStatement(comment string) (s Statement, err error) {
	const lastSecond = 253402300799 // of the year 9999
	for field := range strings.SplitSeq(comment, "\t") {
		switch name, value, _ := strings.Cut(field, ":"); {
		case name == "timestamp":
			seconds, err := strconv.ParseInt(value, 10, 64)
			if err != nil || seconds < 0 || seconds > lastSecond {
				return Statement{}, fmt.Errorf("release: no time: %q", value)
			}
			s.Date = time.Unix(seconds, 0).UTC()
		case name == "file" && fileName.MatchString(value):
			s.File = value
		case name == "version" && versionName.MatchString(value):
			s.Version = value
		}
	}
	if s.File == "" || s.Version == "" || s.Date.IsZero() {
		return Statement{}, fmt.Errorf("release: not of which file of which release: %q", comment)
	}
	return s, nil
}

// verdictOn returns the verdict on a file with a valid signature, given its name and the
// signature's comment.
func verdictOn(name, comment string) Verdict {
	s, err := parseStatement(comment)
	if err != nil {
		return Verdict{Standing: Misnamed, Why: "the signature does not say of which release it is"}
	}
	return Verdict{Standing: Own, Statement: s}.named(name)
}

var (
	// claim matches names of archives and packages, which claim a version and a system. Other names claim nothing,
	// because people call a program anything.
	claim = regexp.MustCompile(`(?i)^muster[-_]v?[0-9]+\.[0-9]+\..*(_(linux|darwin|macos|windows)|\.(deb|rpm)$)`)
	// again matches what browsers add to a name that exists already.
	again = regexp.MustCompile(` ?\([0-9]+\)`)
)

// named compares a file's name with its contents.
func (v Verdict) named(name string) Verdict {
	if plain := again.ReplaceAllString(name, ""); v.Standing == Own && !strings.EqualFold(plain, v.File) &&
		(claim.MatchString(plain) || plain == SumsName) {
		v.Standing, v.Why = Misnamed, v.is()
	}
	return v
}

// is describes the file that was signed.
func (s Statement) is() string {
	return fmt.Sprintf("it is %s, Muster %s of %s", s.File, s.Version, s.Date.Format(time.DateOnly))
}
