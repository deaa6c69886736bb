import { withoutEnd } from '../../std/index.ts'
/** Two spellings of one repository give the same text: the host's case, `.git` and a slash at the end do not matter. */
export function sameRepository(url: string): string {
  const plain = withoutEnd(url.trim(), '/').replace(/\.git$/, '')
  return URL.canParse(plain) ? new URL(plain).href.replace(/\/$/, '') : plain
}
