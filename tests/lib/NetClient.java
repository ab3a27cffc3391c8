// SPDX-License-Identifier: MIT

import java.io.InputStream;
import java.net.URL;

/** GET of a URL in Java: "NetClient URL". */
public class NetClient {
	public static void main(String[] args) throws Exception {
		try (InputStream in = new URL(args[0]).openStream()) {
			System.out.print(new String(in.readAllBytes()));
		} catch (java.io.IOException e) {
			System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
			System.exit(1);
		}
	}
}
