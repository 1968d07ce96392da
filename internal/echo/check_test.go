package echo

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"muster/discovery/protocol/beacon"
)

// Two checks that Chromium 156 sent to a beacon. The second one nominates the pair of candidates.
const (
	firstCheck = "0001004c2112a442" + "697a4e6b416c794339496c7a" + // binding request, transaction
		"0006000b6d75737465723a7867792f00" + // USERNAME muster:xgy/
		"c0570004000003e7" + "802a00085c4839ee023c7ae3" + // GOOG-NETWORK-INFO, ICE-CONTROLLING
		"002400046e001eff" + // PRIORITY
		"000800140339c60137474e4bd8ae58db9e3674775a49d7e0" + "80280004aabc8398" // MESSAGE-INTEGRITY, FINGERPRINT
	nominating = "000100502112a442" + "5446336b765a75565372394d" +
		"0006000b6d75737465723a7867792f00" +
		"c0570004000003e7" + "802a00085c4839ee023c7ae3" +
		"00250000" + "002400046e001eff" + // USE-CANDIDATE
		"00080014322c02868f5b01619c9cbd5569c5d987950dcb91" + "80280004a801873d"
)

// The samples of RFC 5769: a request, and an answer to it.
const (
	sampleRequest = "000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff" +
		"80290008932ff9b151263b36000600096576746a3a683676592020200008001" + "49aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf"
	sampleAnswer = "0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a643" +
		"000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96"
)

func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asks returns a check with these attributes.
func asks(t testing.TB, attributes ...stun.Setter) []byte {
	t.Helper()
	m, err := stun.Build(append([]stun.Setter{stun.TransactionID, stun.BindingRequest}, attributes...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m.Raw
}

var (
	user  = stun.NewUsername("muster:aB3d")
	right = stun.NewShortTermIntegrity(beacon.Password)
	four  = netip.MustParseAddrPort("203.0.113.7:40000")
	six   = netip.MustParseAddrPort("[2001:db8::7]:40000")
)

// TestCheck checks the answers to real checks, bit by bit.
func TestCheck(t *testing.T) {
	b := New("", Bounds{})
	first, second := unhex(t, firstCheck), unhex(t, nominating)
	for _, c := range []struct {
		name, transaction, address string
		question                   []byte
		from                       netip.AddrPort
		length                     int
	}{
		{"the first check", "697a4e6b416c794339496c7a", "00200008" + "0001" + "bd52" + "ea12d545", first, four, 64},
		{"the nomination", "5446336b765a75565372394d", "00200008" + "0001" + "bd52" + "ea12d545", second, four, 64},
		{"a socket of both kinds", "5446336b765a75565372394d", "00200008" + "0001" + "bd52" + "ea12d545", second,
			netip.MustParseAddrPort("[::ffff:203.0.113.7]:40000"), 64},
		{"IPv6", "5446336b765a75565372394d", "00200014" + "0002" + "bd52" + "0113a9fa" + "5446336b765a75565372394a", second, six, 76},
	} {
		answer := b.answer(c.question, c.from, burst)
		if len(answer) != c.length || len(answer) > len(c.question) {
			t.Errorf("%s: %d bytes answer %d", c.name, len(answer), len(c.question))
			continue
		}
		length := binary.BigEndian.AppendUint16(nil, uint16(c.length-20))
		begins := unhex(t, "0101"+hex.EncodeToString(length)+"2112a442"+c.transaction+c.address+"00080014")
		if !bytes.HasPrefix(answer, begins) {
			t.Errorf("%s: %x\nwant  %x…", c.name, answer, begins)
		}
		m := &stun.Message{Raw: answer}
		if err := m.Decode(); err != nil || right.Check(m) != nil || stun.Fingerprint.Check(m) != nil {
			t.Errorf("%s: %v, %v, %v", c.name, err, right.Check(m), stun.Fingerprint.Check(m))
		}
	}
	if b.Strange.Load() != 0 {
		t.Errorf("%d were strange", b.Strange.Load())
	}
}

// TestSilence checks that nothing but a genuine check gets an answer, and that rubbish takes no answers from anybody.
func TestSilence(t *testing.T) {
	good := unhex(t, nominating)
	with := func(change func(b []byte)) []byte {
		b := bytes.Clone(good)
		change(b)
		return b
	}
	filler := stun.RawAttribute{Type: 0xC057, Value: make([]byte, 40)}
	silent := map[string][]byte{
		"nothing":                        {},
		"another user":                   asks(t, stun.NewUsername("evtj:h6vY"), filler, right, stun.Fingerprint),
		"a longer ufrag":                 asks(t, stun.NewUsername("muster00:h6vY"), filler, right, stun.Fingerprint),
		"another first":                  asks(t, stun.NewUsername("evtj:muster:h6vY"), filler, right, stun.Fingerprint),
		"a ufrag alone":                  asks(t, stun.NewUsername("muster"), filler, right, stun.Fingerprint),
		"no user":                        asks(t, filler, right, stun.Fingerprint),
		"the user elsewhere":             asks(t, stun.NewSoftware("muster:"), filler, right, stun.Fingerprint),
		"no integrity":                   asks(t, user, filler, stun.Fingerprint),
		"another password":               asks(t, user, filler, stun.NewShortTermIntegrity("musterAnswersEverybody01"), stun.Fingerprint),
		"a user whom nobody vouches for": asks(t, filler, right, user, stun.Fingerprint),
		"short integrity":                asks(t, user, filler, stun.RawAttribute{Type: stun.AttrMessageIntegrity, Value: make([]byte, 4)}),
		"integrity of another byte":      with(func(b []byte) { b[70] ^= 1 }),
		"another transaction":            with(func(b []byte) { b[8] ^= 1 }),
		"a wrong fingerprint":            with(func(b []byte) { b[99] ^= 1 }),
		"no cookie":                      with(func(b []byte) { b[4] = 0 }),
		"an indication":                  with(func(b []byte) { b[1] = 0x11 }),
		"an answer":                      with(func(b []byte) { b[0] = 1 }),
		"another method":                 with(func(b []byte) { b[1] = 3 }),
		"a length too large":             with(func(b []byte) { b[3] += 4 }),
		"an attribute too long":          with(func(b []byte) { b[39] = 200 }),
		"a tail":                         append(bytes.Clone(good), 0, 0, 0, 0),
		"cut":                            good[:96],
		"what must be understood":        asks(t, user, stun.RawAttribute{Type: 0x0003, Value: make([]byte, 4)}, right, stun.Fingerprint),
		"RFC 5769's request":             unhex(t, sampleRequest),
		"RFC 5769's answer":              unhex(t, sampleAnswer),
		"too long":                       asks(t, user, stun.RawAttribute{Type: 0xC057, Value: make([]byte, 1400)}, right),
		"shorter than its answer":        asks(t, stun.NewUsername("muster:"), right)[:52],
		"DTLS":                           append(unhex(t, "16feff000000000000000004a3"), make([]byte, 100)...),
	}
	b := New("", Bounds{Each: 1})
	for range 10 {
		for name, question := range silent {
			if answer := b.answer(question, four, burst); len(answer) > 0 {
				t.Errorf("%s is answered by %x", name, answer)
			}
		}
	}
	if want := uint64(10 * len(silent)); b.Strange.Load() != want || b.HeldBack.Load() != 0 {
		t.Errorf("%d strange, %d held back, want %d, 0", b.Strange.Load(), b.HeldBack.Load(), want)
	}
	for range 3 { // as many as the bucket has
		if len(b.answer(good, four, burst)) == 0 {
			t.Error("the network has no answers left")
		}
	}
	if short := asks(t, stun.NewUsername("muster:"), right, stun.Fingerprint); len(short) != 64 || len(New("", Bounds{}).answer(short, six, burst)) > 0 {
		t.Errorf("%d bytes get a longer answer", len(short))
	}
	if plain := asks(t, user, filler, right); len(New("", Bounds{}).answer(plain, four, burst)) != 64 {
		t.Error("a check without a fingerprint gets no answer")
	}
}

// TestOneBucket checks that checks and Muster's own questions share a network's answers, and that a network with none
// left costs the beacon no sums.
func TestOneBucket(t *testing.T) {
	b := New("", Bounds{Each: 10})
	check, question := unhex(t, nominating), beacon.Protocol{}.AppendQuery(nil, 1, nil)
	answered := 0
	for range 40 {
		for _, q := range [][]byte{check, question} {
			if len(b.answer(q, four, burst)) > 0 {
				answered++
			}
		}
	}
	if answered != 30 {
		t.Errorf("%d answers, want those of three seconds, 30", answered)
	}
	strange := b.Strange.Load()
	b.answer(asks(t, user, stun.NewShortTermIntegrity("wrong"), stun.Fingerprint), four, burst)
	if b.Strange.Load() != strange {
		t.Error("a check is summed up although its network has no answers left")
	}
}

// of returns an address of a network.
func of(kind, i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, byte(kind), byte(i >> 8), byte(i)}), 1)
}

// TestManyFlood checks that networks which ask as seldom as players do get their answers while many others ask for more
// than there is for all: each far too often, or no more often than one alone may.
func TestManyFlood(t *testing.T) {
	const all, flooders, lasts, step = 1000, 100, 10 * time.Second, 10 * time.Millisecond
	for name, every := range map[string]int{"far too often": 1, "as often as one may": 6} {
		b := New("", Bounds{Each: 20, All: all})
		check := unhex(t, nominating)
		asked, answered, others := 0, 0, 0
		for i := range int(lasts / step) {
			now := burst + time.Duration(i)*step
			for j := range flooders {
				if (i+j)%every == 0 && len(b.answer(check, of(1, j), now)) > 0 {
					others++
				}
			}
			if i < int(lasts/step)/5 { // the flooders begin with full buckets
				continue
			}
			if len(b.answer(check, of(2, asked/5), now)) > 0 { // each asks five times
				answered++
			}
			asked++
		}
		if answered*10 < asked*9 {
			t.Errorf("%s: %d of %d were answered", name, answered, asked)
		}
		if most := int(all * (lasts + burst).Seconds()); others+answered > most || others < most/2 {
			t.Errorf("%s: %d answers in all, of %d at most", name, others+answered, most)
		}
	}
}

// TestShared checks that hardly any network shares its answers with a thousand that flood.
func TestShared(t *testing.T) {
	b := New("", Bounds{Each: 1, All: 100_000})
	check, refused := unhex(t, nominating), 0
	for i := range 1000 {
		for range 4 {
			b.answer(check, of(1, i), burst)
		}
	}
	for i := range 300 {
		if len(b.answer(check, of(2, i), burst)) == 0 {
			refused++
		}
	}
	if refused > 10 { // one in 280; with one bucket a network it would be 18
		t.Errorf("%d of 300 quiet networks get no answer", refused)
	}
}

// FuzzCheck checks that whatever comes from wherever gets no answer that is longer, and that each answer is one.
func FuzzCheck(f *testing.F) {
	for _, digits := range []string{firstCheck, nominating, sampleRequest, sampleAnswer} {
		f.Add(unhex(f, digits), true)
		f.Add(unhex(f, digits), false)
	}
	f.Add(asks(f, user, right), true)
	f.Fuzz(func(t *testing.T, question []byte, is4 bool) {
		from := six
		if is4 {
			from = four
		}
		before := bytes.Clone(question)
		answer := bytes.Clone(New("", Bounds{}).answer(question, from, burst))
		if !bytes.Equal(before, question) {
			t.Fatal("the question has changed")
		}
		if len(answer) > len(question) {
			t.Fatalf("%d bytes answer %d", len(answer), len(question))
		}
		if len(answer) > 0 && len(New("", Bounds{}).answer(answer, from, burst)) > 0 {
			t.Fatal("an answer is answered")
		}
	})
}
