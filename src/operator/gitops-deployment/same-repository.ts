import { withoutGit } from '../../api/index.ts'

/** Two spellings of one repository give the same text: the host's case, `.git` and a slash at the end do not matter. */
export function sameRepository(url: string): string {
  const plain = withoutGit(url.trim())
  return URL.canParse(plain) ? new URL(plain).href.replace(/\/$/, '') : plain
}
