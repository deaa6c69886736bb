import { is, match } from 'uvu/assert'
import { whyReserved } from '../../../../src/operator/workspace/objects/reserved-names.ts'
import { describe } from '../../../support/suite.ts'

const RUN =
  `BASH_ENV ENV LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GIT_ASKPASS GIT_SSH_COMMAND GIT_EXTERNAL_DIFF SSH_ASKPASS PROMPT_COMMAND
  PS1 PATH HOME NODE_OPTIONS npm_config_script_shell NPM_CONFIG_USERCONFIG PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS
  _JAVA_OPTIONS MAVEN_OPTS ZDOTDIR EDITOR PAGER LESSOPEN OPENSSL_CONF KUBECONFIG RUSTC_WRAPPER GOFLAGS MAKEFLAGS`.split(/\s+/)
const HARMLESS = [
  'REGION',
  'HTTPS_PROXY',
  'no_proxy',
  'NPM_CONFIG_REGISTRY',
  'PYTHONUNBUFFERED',
  'PATHS',
  'EDITORIAL',
  'MY_LD_PRELOAD',
  'CCC',
]

describe('names of variables', (it) => {
  it('that make programs run code are the owner’s to set, and nobody else’s', () => {
    for (const name of RUN) {
      match(whyReserved(name, true) ?? `${name} is inherited`, 'it makes programs run code')
      is(whyReserved(name, false), undefined, name)
    }
  })
  it('that do not are inherited', () => {
    for (const name of HARMLESS) is(whyReserved(name, true), undefined, name)
  })
  it('that are set for every workspace nobody sets', () => {
    for (const name of ['GL_X', 'BERTH_TOOLS_DIR', 'PROJECT_SOURCE', 'GIT_CONFIG_COUNT'])
      for (const isInherited of [true, false]) match(whyReserved(name, isInherited) ?? '', 'it is set for every workspace')
  })
})
