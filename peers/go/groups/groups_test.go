package groups

import (
	"crypto/tls"
	"slices"
	"testing"
)

func TestParseKeepsTheOrderAndTakesEverySpelling(t *testing.T) {
	ids, err := Parse("p-384:X25519:prime256v1:x25519mlkem768")
	want := []tls.CurveID{tls.CurveP384, tls.X25519, tls.CurveP256, tls.X25519MLKEM768}
	if err != nil || !slices.Equal(ids, want) {
		t.Fatalf("got %v, %v; want %v", ids, err, want)
	}
}

func TestParseOfNothingLeavesTheDefault(t *testing.T) {
	if ids, err := Parse(""); ids != nil || err != nil {
		t.Fatalf("got %v, %v", ids, err)
	}
}

func TestParseRefusesWhatIsUnknown(t *testing.T) {
	for _, list := range []string{"moon", "X25519:", ":X25519", "X25519,P-256"} {
		if ids, err := Parse(list); err == nil {
			t.Errorf("%q: got %v; want an error", list, ids)
		}
	}
}

func TestNameIsTheRegistrys(t *testing.T) {
	for id, want := range map[tls.CurveID]string{
		tls.CurveP256: "secp256r1", tls.X25519MLKEM768: "X25519MLKEM768", 0x1234: "0x1234",
	} {
		if got := Name(id); got != want {
			t.Errorf("%#x: got %q; want %q", uint16(id), got, want)
		}
	}
}
