package access_test

import (
	"testing"

	"muster/host/access"
)

func TestKey(t *testing.T) {
	const fingerprint = "6GGEBGUZQS72K5ZWN3CQCTQWVA"
	for typed, want := range map[string]access.Key{
		"BAKODI":                            {Code: "BAKODI"},
		" ba-ko di":                         {Code: "BAKODI"},
		"#BAKODI":                           {Code: "BAKODI"},
		"BAKODI.SECRET":                     {Code: "BAKODI", Secret: "SECRET"},
		"BAKODI~" + fingerprint:             {Code: "BAKODI", Fingerprint: fingerprint},
		"bakodi~6ggebguzqs72k5zwn3cqctqwva": {Code: "BAKODI", Fingerprint: fingerprint},
		"BAKODI~" + fingerprint + ".SECRET": {Code: "BAKODI", Fingerprint: fingerprint, Secret: "SECRET"},
		"BAKODI.SECRET~" + fingerprint:      {Code: "BAKODI", Fingerprint: fingerprint, Secret: "SECRET"},
		"BAKODITA_Q3KXOJ2VBBKZ6BPC":         {Code: "BAKODITA", Link: "Q3KXOJ2VBBKZ6BPC"},
		"ba-ko-di-ta_q3kxoj2vbbkz6bpc":      {Code: "BAKODITA", Link: "Q3KXOJ2VBBKZ6BPC"},
		"":                                  {},

		"BAKODI_Q3KXOJ2VBBKZ6BPC~" + fingerprint + ".SECRET": {
			Code:        "BAKODI",
			Link:        "Q3KXOJ2VBBKZ6BPC",
			Fingerprint: fingerprint,
			Secret:      "SECRET",
		},
		"BAKODI.SECRET_Q3KXOJ2VBBKZ6BPC": {Code: "BAKODI", Link: "Q3KXOJ2VBBKZ6BPC", Secret: "SECRET"},
	} {
		got, err := access.ParseKey(typed)
		if err != nil || got != want {
			t.Errorf("%q reads %+v, %v; want %+v", typed, got, err, want)
		}
		if again, err := access.ParseKey(got.String()); err != nil || again != got {
			t.Errorf("%+v comes back as %+v, %v", got, again, err)
		}
	}
	for _, typed := range []string{"BAKODI~", "BAKODI~" + fingerprint[1:], "BAKODI~.SECRET"} {
		if got, err := access.ParseKey(typed); err != access.ErrCutOff || got.Code != "BAKODI" || got.Fingerprint != "" {
			t.Errorf("%q reads %+v, %v; want it to be cut off", typed, got, err)
		}
	}
}

// TestNewCode checks that codes grow with the host's rooms, so that a guess hits one of many rooms
// about as rarely as a single one. It also checks that link keys have 80 bits.
func TestNewCode(t *testing.T) {
	for rooms, want := range map[int]int{0: 8, 2: 8, 3: 10, 219: 10, 220: 12, 10_000: 12} {
		code := access.NewCode(rooms)
		if len(code) != want || access.CanonicalCode(code) != code {
			t.Errorf("beside %d rooms another gets the code %s, want %d letters", rooms, code, want)
		}
	}
	if a, b := access.NewLinkKey(), access.NewLinkKey(); a == b || len(a) != 16 {
		t.Errorf("the link keys are %s and %s", a, b)
	}
}
