import { equal } from 'uvu/assert'
import { staleRpcFiles } from '../../hack/verify-rpc.ts'
import { describe } from '../support/suite.ts'

describe('generated wire code', (it) => {
  it('is what the protos say', () => equal(staleRpcFiles(), []))
})
