import * as assert from 'uvu/assert'
import { redactUrls } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

describe('URLs in a text', (it) => {
  const CASES: [written: string, shown: string, why: string][] = [
    [
      "fatal: 'https://a:b@h/x' and https://t@h and https://h/?token=c end",
      "fatal: 'https://***@h/x' and https://***@h and https://h/?*** end",
      'users and queries are redacted wherever they stand',
    ],
    ['https://u:p@ss@h/x', 'https://***@h/x', 'a password may have an @ in it'],
    ['//u:p@h/x', '//***@h/x', 'the scheme may be missing'],
    ['https://h:6443/#token', 'https://h:6443/#***', 'a fragment may hold a token'],
    ['https://h/a@b/c', 'https://h/a@b/c', 'a path is shown'],
    ['a://b://c?x=1 d?e', 'a://b://c?*** d?e', 'only a URL has a query that is hidden'],
    ['https://h/?', 'https://h/?', 'an empty query is shown'],
    ['ask ops@example.com', 'ask ops@example.com', 'what is no URL is shown'],
  ]
  it('show no credentials', () => {
    for (const [written, shown, why] of CASES) assert.is(redactUrls(written), shown, why)
  })
})
