package publichost

import (
	"reflect"
	"testing"
)

// TestSortChanges checks that changes that a host applies at once are separated from those that need a restart.
func TestSortChanges(t *testing.T) {
	old := map[string]string{"max-rooms": "10", "listen": ":7777", "node": "a", "idle": "1h"}
	now := map[string]string{"max-rooms": "20", "listen": ":7778", "node": "a", "max-players": "8"}
	names := changed(old, now)
	if want := []string{"idle", "listen", "max-players", "max-rooms"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("changed are %v, want %v", names, want)
	}
	atOnce, later := sortChanges(names)
	if want := []string{"idle", "max-players", "max-rooms"}; !reflect.DeepEqual(atOnce, want) ||
		!reflect.DeepEqual(later, []string{"listen"}) {
		t.Errorf("at once %v, later %v", atOnce, later)
	}
}

// TestWithoutSecrets checks what a log may contain of the settings.
func TestWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"nats://ann:pass@10.0.0.1:4222,nats://token@10.0.0.2": "nats://…@10.0.0.1:4222,nats://…@10.0.0.2",
		"ann:pass@10.0.0.1:4222":                              "…@10.0.0.1:4222",
		"https://lists.example/get?key=abc#x":                 "https://lists.example/get?…",
		"https://muster.example":                              "https://muster.example",
		"/etc/muster/cert.pem":                                "/etc/muster/cert.pem",
		"10.0.0.0/8,127.0.0.1":                                "10.0.0.0/8,127.0.0.1",
	} {
		if got := withoutSecrets(map[string]string{"x": text})["x"]; got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
