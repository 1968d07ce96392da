package release

import (
	"crypto/sha256"
	"io"
	"strings"

	"aead.dev/minisign"
)

// Judge is [Keys.Verify] for a file in memory.
func Judge(k Keys, name, text, signature, sums, sumsSignature string) (best Verdict) {
	it := content{signed: minisign.NewReader(strings.NewReader(text)), sum: sha256.Sum256([]byte(text))}
	io.Copy(io.Discard, it.signed)
	best.take(k.judge(name, it, []byte(signature)))
	best.take(k.judgeSums(name, it, []byte(sums), []byte(sumsSignature)))
	return best
}
