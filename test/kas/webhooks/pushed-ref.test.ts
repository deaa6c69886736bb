import { is } from 'uvu/assert'
import type { ServedRequest } from '../../../src/adapters/http/index.ts'
import { pushedRef } from '../../../src/kas/webhooks/pushed-ref.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const request = (body: string, contentType = 'application/json'): ServedRequest => ({
  method: 'POST',
  path: '/',
  peer: '127.0.0.1',
  header: (name) => (name === 'content-type' ? contentType : undefined),
  body: Buffer.from(body),
})

describe('the pushed ref', (it) => {
  const CASES: [why: string, body: string, ref: string | undefined, contentType?: string][] = [
    ['GitHub, GitLab and Gitea on a push to a branch', '{"ref":"refs/heads/main","before":"0"}', 'refs/heads/main'],
    ['GitLab on a push of a tag', '{"object_kind":"tag_push","ref":"refs/tags/v1"}', 'refs/tags/v1'],
    ['GitHub on a new tag', '{"ref":"v1","ref_type":"tag"}', 'refs/tags/v1'],
    ['GitHub on a new branch', '{"ref":"x","ref_type":"branch"}', 'refs/heads/x'],
    [
      'GitHub as a form',
      `payload=${encodeURIComponent('{"ref":"refs/heads/a b"}')}`,
      'refs/heads/a b',
      'application/x-www-form-urlencoded',
    ],
    ['what says nothing of a ref', '{"zen":"Keep it simple"}', undefined],
    ['a ref of a kind that is not known', '{"ref":"x"}', undefined],
    ['no body at all', '', undefined],
  ]
  for (const [why, body, ref, contentType] of CASES) it(`is read: ${why}`, () => is(pushedRef(request(body, contentType)), ref))

  const BAD = [
    '{',
    'null',
    '[]',
    '"refs/heads/main"',
    '7',
    '{"ref":7}',
    '{"ref":{"$ne":1}}',
    `{"ref":"${'x'.repeat(2000)}"}`,
    '\0',
    '['.repeat(100_000),
  ]
  for (const body of BAD) {
    it(`is refused: ${body.slice(0, 30)}`, () => {
      try {
        pushedRef(request(body))
      } catch (thrown) {
        return is(isFailure(thrown, 'invalid'), true)
      }
      is('taken', 'refused')
    })
  }
})
