// Package groups names TLS supported groups as the IANA registry does, which is how the rest of
// tlscost names them.
package groups

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// The first name is the registry's, the others are usual spellings of it.
var known = []struct {
	id    tls.CurveID
	names []string
}{
	{tls.X25519, []string{"X25519"}},
	{tls.CurveP256, []string{"secp256r1", "P-256", "P256", "prime256v1"}},
	{tls.CurveP384, []string{"secp384r1", "P-384", "P384"}},
	{tls.CurveP521, []string{"secp521r1", "P-521", "P521"}},
	{tls.X25519MLKEM768, []string{"X25519MLKEM768"}},
	{tls.SecP256r1MLKEM768, []string{"SecP256r1MLKEM768"}},
	{tls.SecP384r1MLKEM1024, []string{"SecP384r1MLKEM1024"}},
	{tls.MLKEM1024, []string{"MLKEM1024", "ML-KEM-1024"}},
}

// Parse reads a colon-separated list. An empty list gives nil, which crypto/tls takes as its
// own default.
func Parse(list string) ([]tls.CurveID, error) {
	if list == "" {
		return nil, nil
	}
	var ids []tls.CurveID
	for _, word := range strings.Split(list, ":") {
		id, err := find(word)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func find(word string) (tls.CurveID, error) {
	for _, group := range known {
		for _, name := range group.names {
			if strings.EqualFold(name, word) {
				return group.id, nil
			}
		}
	}
	return 0, fmt.Errorf("groups: '%s': crypto/tls has no such group; it has %s", word, all())
}

func all() string {
	names := make([]string, len(known))
	for i, group := range known {
		names[i] = group.names[0]
	}
	return strings.Join(names, ", ")
}

// Name gives the registry's name of a group, or its code point when it has none here.
func Name(id tls.CurveID) string {
	for _, group := range known {
		if group.id == id {
			return group.names[0]
		}
	}
	return fmt.Sprintf("0x%04x", uint16(id))
}
