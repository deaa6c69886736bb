import { type Door, offer, type Service } from '../../adapters/grpc/index.ts'
import { AgentRegistrar, AgentReports, type ReportRequest, registered, reported } from '../../rpc/index.ts'
import type { AgentGate, AgentPass } from '../ports.ts'
import type { RollOfPods } from './roll.ts'

export interface RegistrationDesk {
  gate: AgentGate
  /** Proves who calls before anything of a request is read. */
  door: Door
  roll: RollOfPods
  /** Told of what agents say of their work. */
  onReport: (pass: AgentPass, report: ReportRequest) => void
}

/** Where agents say that they are there, and what they do. */
export const createRegistrationServices = ({ gate, door, roll, onReport }: RegistrationDesk): Service[] => {
  const admitted = async <T>(authorization: string | undefined, work: (pass: AgentPass) => T): Promise<T> => {
    const pass = gate.admit(authorization)
    try {
      return work(pass)
    } finally {
      pass.close()
    }
  }
  return [
    offer(
      AgentRegistrar,
      {
        register: ({ agentMeta, podId }, call) =>
          admitted(call.metadata('authorization'), (pass) => {
            roll.register(pass, agentMeta, podId)
            return registered()
          }),
      },
      door,
    ),
    offer(
      AgentReports,
      {
        report: (report, call) =>
          admitted(call.metadata('authorization'), (pass) => {
            onReport(pass, report)
            return reported()
          }),
      },
      door,
    ),
  ]
}
