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
		"":                                  {},
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
