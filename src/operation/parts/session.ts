/** From one log-in to the next: what was begun in it sends nothing once it is over. */
export class Session {
  isOver = false;

  end(): void {
    this.isOver = true;
  }
}

/** What a session ends that is under way in it. */
export interface Live {
  endSession(): void;
}
