/** Chromium, as Debian has it, without a window. */

import { createHash, X509Certificate } from 'node:crypto'
import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { debianPrograms } from './debian.ts'

const DEBIAN = debianPrograms('chromium', 'Chromium')
const HOME = join(DEBIAN.place, 'usr/lib/chromium')

/** Why the tests in a browser are left out; `undefined` where it can be had: a hundred megabytes. */
export const lacksChromium = DEBIAN.lacks

export interface RunningChromium {
  browser: Browser
  /** Ends it, and takes its folder away. */
  stop(): Promise<void>
}

/** What it is told to believe: the SHA-256 of the certificate's public key. */
export const pinOf = (certificate: string): string => {
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(spki).digest('base64')
}

/**
 * Every name leads to that address, `host:port`, but 127.0.0.1, and those that `elsewhere` says another address of; `trusted` is the
 * SHA-256 of the public key that it believes, or several with commas.
 */
export async function startChromium(
  address: string,
  trusted: string,
  elsewhere: Record<string, string> = {},
): Promise<RunningChromium> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-chromium-'))
  const program = await wrapperIn(folder)
  const rules = Object.entries({ ...elsewhere, '*': address }).map(([name, to]) => `MAP ${name} ${to}`)
  const browser = await chromium.launch({
    executablePath: program,
    // Namespaces of users are not to be had everywhere, and it meets nobody here but Berth.
    chromiumSandbox: false,
    args: [
      '--no-zygote',
      '--disable-gpu',
      `--browser-subprocess-path=${program}`,
      `--host-resolver-rules=${[...rules, 'EXCLUDE 127.0.0.1'].join(', ')}`,
      `--ignore-certificate-errors-spki-list=${trusted}`,
    ],
    env: { HOME: folder, PATH: process.env.PATH ?? '', FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  })
  return {
    browser,
    async stop() {
      await browser.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * It is started by the loader of its own C library. What it reads lies beside the program that runs, and that is the loader: so there is
 * one in its folder.
 */
async function wrapperIn(folder: string): Promise<string> {
  const loader = join(HOME, basename(DEBIAN.loader()))
  if (!existsSync(loader)) {
    // Another test may want to start it before it is whole.
    copyFileSync(DEBIAN.loader(), `${loader}.${process.pid}`)
    renameSync(`${loader}.${process.pid}`, loader)
  }
  const program = join(folder, 'chromium')
  const words = DEBIAN.words('usr/lib/chromium/chromium-headless-shell', loader)
  await writeFile(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`)
  await chmod(program, 0o755)
  await writeFile(
    join(folder, 'fonts.conf'),
    `<fontconfig><dir>${DEBIAN.place}/usr/share/fonts</dir><cachedir>${folder}</cachedir></fontconfig>`,
  )
  return program
}
