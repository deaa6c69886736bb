import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Shell } from './shell.ts'
import { which } from './which.ts'

/** An address that somebody has written into an object is opened by no other program than a browser. */
export const isForBrowsers = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')

/** Opens an address in the browser ($BROWSER, else that of the machine), or says that there is none. */
export async function openInBrowser(shell: Shell, url: string): Promise<ExitCode> {
  const browser = browserOf(shell)
  if (browser === undefined) {
    shell.say('No browser is known on this machine: name one in BROWSER.\n')
    return exitCodes.ok
  }
  return (await shell.handOver(browser, [url])) === 0 ? exitCodes.ok : exitCodes.failed
}

/** Not in a terminal where nobody could see it. */
function browserOf({ env, cwd }: Shell): string | undefined {
  if (env.BROWSER) return env.BROWSER
  for (const name of ['xdg-open', 'open']) {
    try {
      return which(name, env.PATH, cwd)
    } catch {
      // The next one may be there.
    }
  }
  return undefined
}
