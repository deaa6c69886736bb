import { is, not } from 'uvu/assert'
import { remoteUrl } from '../../../src/adapters/git/index.ts'
import { type Failure, isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

function refusalOf(url: string): Failure | undefined {
  try {
    remoteUrl(url, ['https'])
    return undefined
  } catch (thrown) {
    if (isFailure(thrown, 'invalid')) return thrown
    throw thrown
  }
}

describe('repository URLs', (it) => {
  const CASES: [url: string, reason: string | undefined][] = [
    ['https://example.com/shop.git', undefined],
    ['https://user:canary@example.com/shop.git', 'UrlHasCredentials'],
    ['https://canary@example.com/shop.git', 'UrlHasCredentials'],
    ['https://example.com/shop.git?private_token=canary', 'UrlInvalid'],
    ['http://example.com/shop.git', 'ProtocolNotAllowed'],
    ['ssh://git@example.com/shop.git', 'ProtocolNotAllowed'],
    ['ssh://git:canary@example.com/shop.git', 'UrlHasCredentials'],
    ['https://example.com./shop.git', 'UrlInvalid'],
    ['ext::sh -c evil', 'UrlInvalid'],
    ['git@example.com:shop.git', 'UrlInvalid'],
    ['--upload-pack=x', 'UrlInvalid'],
    ['file:///etc/passwd', 'UrlInvalid'],
  ]
  for (const [url, reason] of CASES) {
    it(`${reason ? `refuse ${url} as ${reason}` : `take ${url}`}`, () => {
      const failure = refusalOf(url)
      is(failure?.reason, reason)
      if (failure) not.match(`${failure.message} ${failure.remedy}`, 'canary')
    })
  }
})
