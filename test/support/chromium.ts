/** Chromium, as Debian has it, without a window. */

import { copyFileSync, existsSync, globSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { placeFor } from './cache.ts'
import { fetchDebian } from './debian.ts'

const LOCK = join(import.meta.dirname, 'chromium/debian.txt')
const PLACE = placeFor('chromium', [LOCK])
const HOME = join(PLACE, 'usr/lib/chromium')

/** Why the tests in a browser are left out; `undefined` where it can be had. Fetched when it is new here: a hundred megabytes. */
export async function lacksChromium(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'the Chromium of these tests is that of Debian, for Linux'
  if (existsSync(PLACE)) return undefined
  try {
    await fetchDebian(LOCK, PLACE)
    return undefined
  } catch (thrown) {
    if (existsSync(PLACE)) return undefined
    return `Chromium cannot be fetched: ${thrown instanceof Error ? thrown.message : 'nobody knows why'}`
  }
}

export interface RunningChromium {
  browser: Browser
  /** Ends it, and takes its folder away. */
  stop(): Promise<void>
}

/** Every name leads to that address, `host:port`, but 127.0.0.1; `trusted` is the SHA-256 of the public key that it believes. */
export async function startChromium(address: string, trusted: string): Promise<RunningChromium> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-chromium-'))
  const program = await wrapperIn(folder)
  const browser = await chromium.launch({
    executablePath: program,
    // Namespaces of users are not to be had everywhere, and it meets nobody here but Berth.
    chromiumSandbox: false,
    args: [
      '--no-zygote',
      '--disable-gpu',
      `--browser-subprocess-path=${program}`,
      `--host-resolver-rules=MAP * ${address}, EXCLUDE 127.0.0.1`,
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
  const [found = ''] = globSync('{lib,usr/lib}*/**/ld-linux-*.so.*', { cwd: PLACE })
  const loader = join(HOME, basename(found))
  if (!existsSync(loader)) copyFileSync(join(PLACE, found), loader)
  const libraries = globSync('{lib,usr/lib}/*-linux-gnu{,/pulseaudio}', { cwd: PLACE }).map((each) => join(PLACE, each))
  const program = join(folder, 'chromium')
  const words = [loader, '--library-path', libraries.join(':'), join(HOME, 'chromium-headless-shell')]
  await writeFile(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`)
  await chmod(program, 0o755)
  await writeFile(
    join(folder, 'fonts.conf'),
    `<fontconfig><dir>${PLACE}/usr/share/fonts</dir><cachedir>${folder}</cachedir></fontconfig>`,
  )
  return program
}
