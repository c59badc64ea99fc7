package main

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"os"
)

// privateKeyInfo is PKCS#8's (RFC 5208, section 5), without attributes.
type privateKeyInfo struct {
	Version   int
	Algorithm pkix.AlgorithmIdentifier
	Key       []byte
}

// id-ml-dsa-44, -65 and -87 are 2.16.840.1.101.3.4.3.17 to .19 (RFC 9881, section 2).
var mldsaArc = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3}

func isMLDSA(id asn1.ObjectIdentifier) bool {
	last := len(id) - 1
	return last == len(mldsaArc) && id[:last].Equal(mldsaArc) && id[last] >= 17 && id[last] <= 19
}

// seedOnly turns an ML-DSA key that holds seed and expanded key into one that holds the seed
// (RFC 9881, section 6): OpenSSL writes the former, crypto/x509 reads the latter. Any other key
// stays as it is.
func seedOnly(block *pem.Block) {
	var info privateKeyInfo
	if rest, err := asn1.Unmarshal(block.Bytes, &info); err != nil || len(rest) > 0 ||
		!isMLDSA(info.Algorithm.Algorithm) {
		return
	}
	var both struct{ Seed, Expanded []byte }
	if rest, err := asn1.Unmarshal(info.Key, &both); err != nil || len(rest) > 0 {
		return
	}
	seed := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, Bytes: both.Seed}
	var err error
	if info.Key, err = asn1.Marshal(seed); err != nil {
		return
	}
	if der, err := asn1.Marshal(info); err == nil {
		block.Bytes = der
	}
}

func loadKeyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	if block, _ := pem.Decode(key); block != nil {
		seedOnly(block)
		key = pem.EncodeToMemory(block)
	}
	return tls.X509KeyPair(cert, key)
}
