import { equal, is, throws } from 'uvu/assert'
import {
  anyText,
  type EnvironmentVariables,
  type Flags,
  hostAndPort,
  integer,
  optional,
  readSettings,
  required,
  setting,
  toggle,
  wholeSeconds,
  words,
} from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const TABLE = {
  listen: setting('--listen <host:port>', 'LISTEN', hostAndPort, '127.0.0.1:8150', 'where it listens'),
  grace: setting('--session-grace <seconds>', 'GRACE', wholeSeconds(0, 300), '60', 'how long sessions go on'),
  peers: optional('--peers <list>', 'PEERS', words, 'the others'),
  url: required('--url <url>', 'URL', anyText, 'where people come'),
  isCareful: toggle('--careful', 'CAREFUL', 'ask first'),
  hasDashboard: toggle('--no-dashboard', 'NO_DASHBOARD', 'show nothing'),
}
const read = (flags: Flags, variables: EnvironmentVariables = {}) => readSettings(TABLE, { url: 'x', ...flags }, variables)

describe('settings', (it) => {
  it('have their defaults', () => {
    const defaults = { listen: '127.0.0.1:8150', grace: 60_000, peers: undefined, url: 'x', isCareful: false, hasDashboard: true }
    equal(read({ careful: undefined, dashboard: true }), defaults)
  })

  it('are read from flags before variables', () => {
    const variables = { LISTEN: 'a:1', GRACE: '9', PEERS: 'b, c', CAREFUL: 'true', NO_DASHBOARD: 'true' }
    const all = { listen: 'd:2', grace: 8000, peers: ['b', 'c'], url: 'x', isCareful: true, hasDashboard: false }
    equal(read({ listen: 'd:2', sessionGrace: '8' }, variables), all)
    const { isCareful, hasDashboard } = read({ careful: true, dashboard: false }, { CAREFUL: 'false', NO_DASHBOARD: 'false' })
    equal([isCareful, hasDashboard], [true, false])
  })

  it('are off by a variable that is empty or false, and by no other word', () => {
    for (const CAREFUL of ['', 'false']) is(read({}, { CAREFUL }).isCareful, false)
    throws(() => read({}, { CAREFUL: 'yes' }), /^CAREFUL is "yes"$/)
  })

  it('are wrong where a variable is empty and something is needed', () => {
    throws(() => read({}, { LISTEN: '' }), /^--listen is ""/)
    throws(() => read({ url: undefined }, { URL: '' }), /^--url is missing$/)
  })

  it('say which number is wrong', () => {
    for (const sessionGrace of ['-1', '301', '1.5', 'soon'])
      throws(() => read({ sessionGrace }), `--session-grace is "${sessionGrace}"`)
    throws(() => integer()('0', '--most'), /^--most is "0"$/)
  })
})
