package release

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aead.dev/minisign"
)

// Standing says who vouches for a file, in the words of documents.
type Standing string

const (
	// Own says that the project has signed it.
	Own Standing = "own"
	// Friends says that nobody known to this program says anything about it.
	Friends Standing = "friends"
	// Changed says that the project signed something else.
	Changed Standing = "changed"
	// Misnamed says that the project has signed it, but as something other than its name claims.
	Misnamed Standing = "misnamed"
	// Keyless says that this program was built without the project's key, and cannot tell.
	Keyless Standing = "keyless"
)

// rank orders standings when several proofs judge one file. A valid proof beats an invalid one, and that beats none.
var rank = map[Standing]int{Friends: 1, Changed: 2, Misnamed: 3, Own: 4}

// Statement names the signed file and its release.
type Statement struct {
	// File is its name in the release. For a program it is its archive's name without the ending.
	File, Version string
	// Date is the date of the release's commit, in UTC.
	Date time.Time
}

// Verdict is what is known of a file.
type Verdict struct {
	Standing Standing
	// Why is half a sentence for people, if Standing alone leaves a question.
	Why string
	// Statement is what the project says of the file; zero unless it signed it.
	Statement
	// Proof are the accompanying files that prove it.
	Proof []string
	// Signature is the file's own, if that proves it. It is passed on with the file.
	Signature []byte
}

// String returns the verdict as a sentence without its full stop.
func (v Verdict) String() string {
	var text string
	switch v.Standing {
	case Own:
		return fmt.Sprintf("the project's own: Muster %s of %s, signed as %s", v.Version, v.Date.Format(time.DateOnly), v.File)
	case Misnamed:
		text = "the project's own, but not what it claims to be"
	case Changed:
		text = "this file was changed"
	case Keyless:
		text = "this program was built without the project's key, and cannot tell whose the file is"
	default:
		text = "your friend's copy: nobody vouches for it"
	}
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text
}

// Keys are the public keys that this program trusts.
type Keys struct{ all []minisign.PublicKey }

// ProjectKeys returns the keys that this build was given, perhaps none.
func ProjectKeys() (Keys, error) { return ParseKeys(publicKeys) }

// ParseKeys parses keys in minisign's format (the second line of a minisign.pub), separated by blanks.
func ParseKeys(text string) (Keys, error) {
	var keys Keys
	for word := range strings.FieldsSeq(text) {
		var key minisign.PublicKey
		if err := key.UnmarshalText([]byte(word)); err != nil {
			return Keys{}, errors.New("release: no public key of minisign's form")
		}
		keys.all = append(keys.all, key)
	}
	return keys, nil
}

// None reports whether there is no key to verify with.
func (k Keys) None() bool { return len(k.all) == 0 }

const (
	// SignatureEnding is added to a file's name for its signature.
	SignatureEnding = ".minisig"
	// SumsName is the list of a release's files, in the format of sha256sum.
	SumsName = "SHA256SUMS"
	// maxFile exceeds everything in a release, in bytes; maxProof exceeds a signature or a list of sums.
	maxFile, maxProof = 1 << 30, 64 << 10
)

// Verify says who vouches for a file, from the signature beside it (for an installed program, in ../share/muster) or
// from the signed SHA256SUMS beside it. An error is about the disk or ctx. Problems of the file or its signature are in
// the verdict.
func (k Keys) Verify(ctx context.Context, file string) (Verdict, error) {
	data, err := os.Open(file)
	if err != nil {
		return Verdict{}, err
	}
	defer data.Close()
	return k.VerifyOpen(ctx, data, file)
}

// VerifyOpen is Verify for a file opened at a path. It judges the open file, even if another replaces it at the path.
func (k Keys) VerifyOpen(ctx context.Context, data *os.File, file string) (Verdict, error) {
	of, err := k.verdictsOn(ctx, data, file)
	if err != nil || k.None() {
		return Verdict{Standing: Keyless}, err
	}
	var best Verdict
	for _, v := range of {
		best.take(v)
	}
	if best.Standing == "" {
		best = Verdict{Standing: Friends, Why: "no signature is beside it"}
	}
	return best, nil
}

// VerifyBoth is VerifyOpen for a file that is passed on as the project's. The file's own signature and the signed
// SHA256SUMS, both in its folder, must say that it is exactly this file of that version.
func (k Keys) VerifyBoth(ctx context.Context, data *os.File, file, version string) (Verdict, error) {
	of, err := k.verdictsOn(ctx, data, file)
	if err != nil || k.None() {
		return Verdict{Standing: Keyless}, err
	}
	own := of[0]
	for _, v := range []Verdict{own, of[len(of)-1]} {
		switch {
		case v.Standing == "":
			return Verdict{Standing: Friends, Why: "a signature is missing"}, nil
		case v.Standing == Own && (v.File != filepath.Base(file) || v.Version != version):
			return Verdict{Standing: Misnamed, Why: v.is()}, nil
		case v.Standing != Own:
			return v, nil
		}
	}
	return own, nil
}

// verdictsOn returns the verdicts on an open file by each possible proof: its own signature, an installed program's, and
// SHA256SUMS. There are none without keys.
func (k Keys) verdictsOn(ctx context.Context, data *os.File, file string) ([]Verdict, error) {
	it, err := digest(ctx, data)
	if err != nil || k.None() {
		return nil, err
	}
	var all []Verdict
	name, folder := filepath.Base(file), filepath.Dir(file)
	for _, at := range []string{
		file + SignatureEnding,
		filepath.Join(folder, "..", "share", "muster", name+SignatureEnding),
	} {
		signature, err := proof(at)
		if err != nil {
			return nil, err
		}
		v := k.judge(name, it, signature)
		if v.Version != "" {
			v.Proof, v.Signature = []string{at}, signature
		}
		all = append(all, v)
	}
	listed := filepath.Join(folder, SumsName)
	sums, err1 := proof(listed)
	signature, err2 := proof(listed + SignatureEnding)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	v := k.judgeSums(name, it, sums, signature)
	if v.Version != "" {
		v.Proof = []string{listed, listed + SignatureEnding}
	}
	return append(all, v), nil
}

// VerifyRunning is Verify for the running program. A signature of a version other than the program's own makes it
// misnamed.
func (k Keys) VerifyRunning(ctx context.Context) (Verdict, error) {
	program, err := os.Executable()
	if err != nil {
		return Verdict{}, fmt.Errorf("release: where this program is: %w", err)
	}
	if straight, err := filepath.EvalSymlinks(program); err == nil {
		program = straight
	}
	v, err := k.Verify(ctx, program)
	if says := Running().Version; v.Standing == Own && v.Version != says {
		v.Standing, v.Why = Misnamed, fmt.Sprintf("it is signed as Muster %s and says that it is %s", v.Version, says)
	}
	return v, err
}

// take replaces the verdict by a better founded one.
func (v *Verdict) take(other Verdict) {
	if rank[other.Standing] > rank[v.Standing] {
		*v = other
	}
}

// content is a file's content in the forms that signatures refer to.
type content struct {
	signed *minisign.Reader
	sum    [sha256.Size]byte
}

// digest reads a file once from its beginning. A file that is not plain, or too large for a release, is an error,
// because reading it might never end.
func digest(ctx context.Context, f *os.File) (content, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return content{}, err
	case !info.Mode().IsRegular():
		return content{}, fmt.Errorf("release: %s is no file that could be of a release", f.Name())
	case info.Size() > maxFile:
		return content{}, fmt.Errorf("release: %s is too large to be of a release: %d MB", f.Name(), info.Size()>>20)
	}
	sum := sha256.New()
	c := content{signed: minisign.NewReader(io.TeeReader(io.NewSectionReader(f, 0, maxFile), sum))}
	if _, err := io.Copy(io.Discard, until{ctx, c.signed}); err != nil {
		return content{}, err
	}
	sum.Sum(c.sum[:0])
	return c, nil
}

// until reads while ctx lasts.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// proof reads a signature or a list of sums; nil if there is none. A file that is too large is cut, which makes it
// invalid.
func proof(file string) ([]byte, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxProof))
}
