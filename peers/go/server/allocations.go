package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// allocationsVariable names the file that takes the counts of allocations; tlscost reads it.
const allocationsVariable = "TLSCOST_ALLOCATIONS"

// allocationPage has the layout of struct tlc_allocation_page (src/measure/allocation_page.h); what Go
// allocates is told as the rest, behind the components that only OpenSSL's provider knows.
type allocationPage struct {
	magic, frees, held, updates uint64
	components                  [12]struct{ count, bytes uint64 }
	rest                        struct{ count, bytes uint64 }
}

const (
	allocationMagic  = 0x33636f6c6c61636c
	allocationPeriod = 20 * time.Millisecond
)

// update writes what the runtime has counted. Memory in use is told after a collection: live
// objects, and the stacks of goroutines.
func (p *allocationPage) update() {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	atomic.StoreUint64(&p.rest.count, stats.Mallocs)
	atomic.StoreUint64(&p.rest.bytes, stats.TotalAlloc)
	atomic.StoreUint64(&p.frees, stats.Frees)
	atomic.StoreUint64(&p.held, stats.HeapAlloc+stats.StackInuse)
	atomic.AddUint64(&p.updates, 1)
}

// countAllocations keeps the counts in the file that the environment names, if it names one.
func countAllocations() error {
	path := os.Getenv(allocationsVariable)
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("allocations: %w", err)
	}
	defer file.Close()
	size := int(unsafe.Sizeof(allocationPage{}))
	if err := file.Truncate(int64(size)); err != nil {
		return fmt.Errorf("allocations: %w", err)
	}
	bytes, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("allocations: '%s': %w", path, err)
	}
	page := (*allocationPage)(unsafe.Pointer(&bytes[0]))
	page.update()
	atomic.StoreUint64(&page.magic, allocationMagic)
	go func() {
		for range time.Tick(allocationPeriod) {
			page.update()
		}
	}()
	return nil
}
