// SPDX-License-Identifier: MIT

// GET / of a host in Go: "netclient HOST PORT". Built with and without C, it resolves names in two ways.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

func main() {
	conn, err := net.Dial("tcp", net.JoinHostPort(os.Args[1], os.Args[2]))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Fprintf(conn, "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", os.Args[1])
	answer, err := io.ReadAll(conn)
	parts := strings.SplitN(string(answer), "\r\n\r\n", 2)
	if err != nil || len(parts) != 2 {
		fmt.Println("no answer", err)
		os.Exit(1)
	}
	fmt.Print(parts[1])
}
