import { equal, is, ok } from 'uvu/assert'
import { returnTo } from '../../../src/proxy/web/redirect.ts'
import { describe } from '../../support/suite.ts'

const HOST = '3000-web-1a2b3c.ws.example.com'
const HOME = `https://${HOST}/`

/** Paths of the host, which come back as they were. */
const HONEST = [
  '/',
  '/docs',
  '/docs/',
  '/?folder=/projects/web',
  '/a?next=https://evil.example/',
  '/a?next=//evil.example',
  '/a?b=\\c',
  '/a@evil.example',
  '/@evil.example',
  '/:evil@example.com/',
  '/a//b',
  '/a;b=c',
  '/%2F%2Fevil.example',
  '/%5Cevil.example',
  '/%09/evil.example',
  '/%00',
  '/%252fevil.example',
  '/.berth/arrive?ticket=x',
  '/~ada/',
  '/a|b',
]

/** Whatever wants to lead elsewhere, or cannot be a path. */
const VECTORS = [
  '//evil.example',
  '//evil.example/',
  '///evil.example',
  '////evil.example',
  '/\\evil.example',
  '/\\/evil.example',
  '\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\\\\evil.example',
  '//evil.example\\@ws.example.com',
  '/a\\b',
  '/a/\\evil.example',
  'https://evil.example',
  'https:evil.example',
  'https:/evil.example',
  'https:\\\\evil.example',
  'HTTPS://evil.example',
  'http://evil.example',
  'ftp://evil.example',
  `https://${HOST}@evil.example/`,
  `https://${HOST}.evil.example/`,
  `https://evil.example/${HOST}`,
  `https://evil.example#${HOST}`,
  `https://evil.example?${HOST}`,
  `https://${HOST}:8443/`,
  `https://user:pass@${HOST}/`,
  `//${HOST}`,
  '@evil.example',
  '.evil.example',
  ':443@evil.example',
  'evil.example',
  'evil.example/path',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'javascript://x%0aalert(1)',
  'data:text/html,x',
  'vbscript:x',
  'blob:https://evil.example/x',
  'file:///etc/passwd',
  ' /docs',
  '/ docs',
  '\t//evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r\n/evil.example',
  '/\r\nlocation: https://evil.example',
  '/\u0000/evil.example',
  '/\u0009/evil.example',
  '/\u000b/evil.example',
  '/\u00a0/evil.example',
  '/\u2028/evil.example',
  '/\u3000/evil.example',
  '/\uff0f/evil.example',
  '/\u2215evil.example',
  '/ä',
  '／／evil.example',
  '。evil.example',
  '?next=/',
  '#fragment',
  '',
  '*',
  '.',
  '..',
  '../evil.example',
  '../../evil.example',
  `/${'a'.repeat(2048)}`,
]

describe('where somebody goes back to after signing in', (it) => {
  it('knows enough vectors', () => ok(VECTORS.length >= 60, `${VECTORS.length}`))
  for (const path of HONEST) it(`goes to ${path}`, () => is(returnTo({ host: HOST }, path).href, `https://${HOST}${path}`))
  for (const [at, path] of VECTORS.entries())
    it(`${at}: goes home for ${JSON.stringify(path.slice(0, 60))}`, () => is(returnTo({ host: HOST }, path).href, HOME))

  it('goes home without a path', () => {
    equal([returnTo({ host: HOST }, null).href, returnTo({ host: HOST }, undefined).href], [HOME, HOME])
  })

  it('never leaves the host, whatever is put together', () => {
    const parts = ['/', '\\', '//', '@', ':', '%2f', '%5c', '\t', '\n', '.', 'evil.example', '#', '?', HOST, 'https:', ';']
    for (const a of parts)
      for (const b of parts)
        for (const c of parts) {
          const { host, protocol, username } = returnTo({ host: HOST }, `${a}${b}${c}evil.example`)
          equal([host, protocol, username], [HOST, 'https:', ''], `${a}${b}${c}`)
        }
  })

  it('keeps the port that the host has', () => {
    is(returnTo({ host: `${HOST}:8443` }, '/docs').href, `https://${HOST}:8443/docs`)
  })
})
